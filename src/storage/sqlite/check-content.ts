import { textOf } from '../statements.ts';
import { wordIndexes } from '../stores/words/word-indexes.ts';
import type { Database } from './database.ts';

/** Compares what is stored with what is indexed. The problems found, one sentence each. */
export function checkContent(database: Database): string[] {
  const problems = database
    .all('PRAGMA quick_check(10)')
    .map((row) => textOf(row, 'quick_check'))
    .filter((result) => result !== 'ok')
    .map((result) => `The file is damaged: ${result}`);
  for (const { name } of wordIndexes) {
    try {
      // Rank 1 has FTS5 compare the index with the terms that it was made from, too.
      database.exec(`INSERT INTO ${name}_words (${name}_words, rank) VALUES ('integrity-check', 1)`);
    } catch {
      problems.push(`The full-text index ${name}_words does not agree with what is stored.`);
    }
  }
  return problems;
}
