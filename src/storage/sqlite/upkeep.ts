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

/** Compares the stored data with the indexes. Returns the problems, one sentence each. */
export function checkContent(database: Database): string[] {
  const problems = database
    .all('PRAGMA quick_check(10)')
    .map((row) => textOf(row, 'quick_check'))
    .filter((result) => result !== 'ok')
    .map((result) => `The file is damaged: ${result}`);
  for (const { name } of wordIndexes) {
    try {
      // Rank 1 makes FTS5 also compare the index with its source terms.
      database.exec(`INSERT INTO ${name}_words (${name}_words, rank) VALUES ('integrity-check', 1)`);
    } catch (error) {
      // The check also fails without a lock or disk space. That is not a problem of the index.
      const explained = storageError(error);
      if (isCarrelError(explained) && explained.code !== 'storage_corrupt') throw error;
      problems.push(`The full-text index ${name}_words does not match the stored texts.`);
    }
  }
  return problems;
}
