import { type Language, languages, useLanguage } from '../../words/language.ts';
import type { Statements, WordIndex } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import { numberOf } from '../rows.ts';
import { readSetting, writeSetting } from '../statements.ts';
import type { Transactions } from '../transactions.ts';
import { removeWords, wordIndexes, writeWords } from './word-indexes.ts';

/**
 * Version of the analysis that made the stored terms. Increment it when src/words tokenises or stems differently. A database of
 * another version is tokenised again when it is opened, because queries would not match its terms.
 */
const analysisVersion = 3;

export interface WordAnalysis {
  readonly language: Language;
  /** Version and language, as stored in the database. */
  readonly stamp: string;
}

/** Returns the analysis to use: in the requested language or, by default, in the database's. */
export function analysisFor(stored: string | undefined, requested: Language | undefined): WordAnalysis {
  const current = languages.find((language) => language === stored?.split(' ')[1]);
  const language = requested ?? current ?? 'english';
  return { language, stamp: `${analysisVersion} ${language}` };
}

/** Number of documents tokenised again per batch. */
const rewrittenAtOnce = 500;

/**
 * Sets this thread's language. Tokenises all texts again if they have another analysis or language. This is one transaction: if
 * the process is killed, the old terms stay, and the next start tries again.
 */
export async function applyAnalysis(
  { read, write }: Pick<Transactions, 'read' | 'write'>,
  requested: Language | undefined,
): Promise<void> {
  const stored = await read(storedAnalysis, undefined);
  const { language, stamp } = analysisFor(stored, requested);
  await useLanguage(language);
  if (stored !== stamp) await write(rewriteWords, stamp);
}

/** Returns the language of all stored terms. */
export async function storedLanguage(db: Statements): Promise<Language> {
  return analysisFor(await storedAnalysis(db), undefined).language;
}

async function storedAnalysis(db: Statements): Promise<string | undefined> {
  return readSetting(db, 'word_analysis');
}

async function rewriteWords(db: Statements, stamp: string): Promise<void> {
  await lock(db, 'word analysis');
  // Read again under the lock, because another process may have tokenised the texts meanwhile.
  if ((await storedAnalysis(db)) === stamp) return;
  for (const index of wordIndexes) await rewriteIndex(db, index);
  await writeSetting(db, 'word_analysis', stamp);
}

async function rewriteIndex(db: Statements, index: WordIndex): Promise<void> {
  for (let last = -1; ; ) {
    const rows = await db.query(
      `SELECT o.* FROM ${index.name}_terms t JOIN ${index.owner} o ON o.key = t.key WHERE t.key > ?
       ORDER BY t.key LIMIT ?`,
      [last, rewrittenAtOnce],
    );
    if (rows.length === 0) return;
    const documents = rows.map((row) => ({ key: numberOf(row, 'key'), ...index.textsOf(row) }));
    const keys = documents.map(({ key }) => key);
    await removeWords(db, index, keys);
    await writeWords(db, index, documents);
    last = keys.at(-1) ?? last;
  }
}
