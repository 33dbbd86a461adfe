import { type Language, useLanguage } from '../../words/language.ts';
import { analysisFor, rewrittenAtOnce, type WordIndexSource, wordIndexSources } from '../word-analysis.ts';
import { type Connections, numberOf, type Statements, textOf } from './connections.ts';
import { lockKey } from './migrate.ts';
import { createWordIndex } from './word-index.ts';

/**
 * Chooses the language of this process, and cuts all texts again where they were cut by another analysis or in another
 * language. In one transaction: a process that is killed leaves the old terms, and the next one begins anew.
 */
export async function settleAnalysis(connections: Connections, wanted: Language | undefined): Promise<void> {
  const stored = await connections.read(storedAnalysis);
  const { language, stamp } = analysisFor(stored, wanted);
  await useLanguage(language);
  if (stored === stamp) return;
  await connections.write(async (statements) => {
    await statements.query('SET LOCAL statement_timeout = 0');
    await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    // Read again under the lock, because another server may have been first.
    if ((await storedAnalysis(statements)) === stamp) return;
    for (const source of wordIndexSources) await rewrite(statements, source);
    await statements.query('DELETE FROM carrel.word_analysis');
    await statements.query('INSERT INTO carrel.word_analysis (stamp) VALUES ($1)', [stamp]);
  });
}

export async function storedAnalysis(statements: Statements): Promise<string | undefined> {
  const [row] = await statements.query('SELECT stamp FROM carrel.word_analysis');
  return row === undefined ? undefined : textOf(row, 'stamp');
}

async function rewrite(statements: Statements, { name, owner, textsOf }: WordIndexSource): Promise<void> {
  const words = createWordIndex({ name, owner, poolMax: 1, totalMax: 1 });
  for (let last = -1; ; ) {
    const rows = await statements.query(
      `SELECT o.* FROM carrel.${name}_terms t JOIN carrel.${owner} o ON o.key = t.key WHERE t.key > $1
       ORDER BY t.key LIMIT $2`,
      [last, rewrittenAtOnce],
    );
    if (rows.length === 0) return;
    const documents = rows.map((row) => ({ key: numberOf(row, 'key'), ...textsOf(row) }));
    const keys = documents.map(({ key }) => key);
    await statements.query(`DELETE FROM carrel.${name}_terms WHERE key = ANY ($1)`, [keys]);
    await statements.query(`DELETE FROM carrel.${name}_words WHERE key = ANY ($1)`, [keys]);
    await words.write(statements, documents);
    last = keys.at(-1) ?? last;
  }
}
