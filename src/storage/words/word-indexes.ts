import type { IndexedDocument } from '../../words/ranking/word-index.ts';
import type { Statements, WordIndex } from '../dialect.ts';
import { type SqlFragment, textOf, textsOf } from '../rows.ts';

export const noteWords: WordIndex = {
  name: 'note',
  owner: 'notes',
  tieBreaker: 'id',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  labels: 'tags',
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: headingOf(textsOf(row, 'tags')),
    body: textOf(row, 'content'),
    labels: textsOf(row, 'tags'),
  }),
};

/** Returns the text that is indexed as a note's heading: its tags. */
export function headingOf(tags: readonly string[]): string {
  return [...new Set(tags)].join('\n');
}

export const entryWords: WordIndex = {
  name: 'context_entry',
  owner: 'context_entries',
  tieBreaker: 'key',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  textsOf: (row) => ({ title: '', heading: '', body: textOf(row, 'text_content') }),
};

export const passageWords: WordIndex = {
  name: 'kb_passage',
  owner: 'kb_passages',
  tieBreaker: 'id',
  isIndexed: 'TRUE',
  totalMax: 10_000,
  labels: 'labels',
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: textsOf(row, 'headings').join('\n'),
    body: textOf(row, 'body'),
    labels: textsOf(row, 'labels'),
  }),
};

export const wordIndexes = [noteWords, entryWords, passageWords];

/** Adds documents to the index, with ascending keys. They must not be in it yet. For `otherWrites`, see `WriteWords`. */
export async function writeWords(
  db: Statements,
  index: WordIndex,
  documents: readonly IndexedDocument[],
  otherWrites: readonly SqlFragment[] = [],
): Promise<void> {
  const keys = documents.map(({ key }) => key);
  await db.dialect.words.tokenize(documents)(db, index, keys, otherWrites);
}

export async function removeWords(db: Statements, index: WordIndex, keys: readonly number[]): Promise<void> {
  const { integers, words } = db.dialect;
  for (const table of words.tables) {
    await db.query(`DELETE FROM ${index.name}_${table} WHERE key IN (${integers})`, [{ list: keys }]);
  }
}
