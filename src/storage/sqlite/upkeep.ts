import { isCarrelError } from '../../base/errors.ts';
import type { Statements, StorageDescription } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { wordIndexes } from '../words/word-indexes.ts';
import type { Database } from './database.ts';
import { storageError } from './storage-error.ts';

export async function describe(on: Statements): Promise<StorageDescription> {
  const [row = {}] = await on.query(
    `SELECT sqlite_version() AS version, v.user_version AS schema, c.page_count * s.page_size AS bytes
     FROM pragma_user_version v, pragma_page_count c, pragma_page_size s`,
  );
  return {
    backend: 'sqlite',
    version: textOf(row, 'version'),
    schema: numberOf(row, 'schema'),
    bytes: numberOf(row, 'bytes'),
  };
}

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
    } catch (error) {
      // It takes a lock, and room. What keeps it from looking is nothing that it has found.
      const explained = storageError(error);
      if (isCarrelError(explained) && explained.code !== 'storage_corrupt') throw error;
      problems.push(`The full-text index ${name}_words does not agree with what is stored.`);
    }
  }
  return problems;
}
