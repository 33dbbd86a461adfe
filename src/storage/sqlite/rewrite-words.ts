import { type Language, useLanguage } from '../../words/language.ts';
import { analysisFor, rewrittenAtOnce, type WordIndexSource, wordIndexSources } from '../word-analysis.ts';
import { type Database, numberOf } from './database.ts';
import { storedAnalysis } from './stored-analysis.ts';
import { createWordIndex } from './word-index.ts';

/**
 * Chooses the language of this thread, and cuts all texts again where they were cut by another analysis or in another
 * language. In one transaction: a process that is killed leaves the old terms, and the next one begins anew.
 */
export async function settleAnalysis(database: Database, wanted: Language | undefined): Promise<void> {
  const { language, stamp } = analysisFor(storedAnalysis(database), wanted);
  await useLanguage(language);
  if (storedAnalysis(database) === stamp) return;
  database.transaction(() => {
    // Read again under the lock, because another process may have been first.
    if (storedAnalysis(database) === stamp) return;
    for (const source of wordIndexSources) rewrite(database, source);
    database.run('DELETE FROM word_analysis');
    database.run('INSERT INTO word_analysis (stamp) VALUES (?)', stamp);
  });
}

function rewrite(database: Database, { name, owner, textsOf }: WordIndexSource): void {
  const words = createWordIndex(database, { name, owner, poolMax: 1, totalMax: 1 });
  for (let last = -1; ; ) {
    const rows = database.all(
      `SELECT o.* FROM ${name}_terms t JOIN ${owner} o ON o.key = t.key WHERE t.key > ? ORDER BY t.key LIMIT ?`,
      ...[last, rewrittenAtOnce],
    );
    if (rows.length === 0) return;
    const documents = rows.map((row) => ({ key: numberOf(row, 'key'), ...textsOf(row) }));
    database.run(
      `DELETE FROM ${name}_terms WHERE key IN (SELECT value FROM json_each(?))`,
      JSON.stringify(documents.map(({ key }) => key)),
    );
    words.write(documents);
    last = documents.at(-1)?.key ?? last;
  }
}
