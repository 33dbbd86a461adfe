import { isCarrelError } from '../../base/errors.ts';
import type { Statements, StorageDescription } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { wordIndexes } from '../words/word-indexes.ts';
import type { Database } from './database.ts';
import { currentSchema } from './migrate.ts';
import { loadSqlite } from './sqlite-module.ts';
import { storageError } from './storage-error.ts';

export async function describe(db: Statements): Promise<StorageDescription> {
  const [row = {}] = await db.query(
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

interface SchemaObject {
  readonly name: string;
  /** Type, name and definition. An object of Carrel with a changed definition counts as foreign. */
  readonly identity: string;
}

/** Returns objects that are not in Carrel's schema, such as `trigger on_note`. */
export function foreignObjects(database: Pick<Database, 'all'>): string[] {
  const expected = ownObjects();
  return objectsIn(database)
    .filter(({ identity }) => !expected.has(identity))
    .map(({ name }) => name);
}

function ownObjects(): Set<string> {
  const fresh = new (loadSqlite().DatabaseSync)(':memory:');
  try {
    fresh.exec(currentSchema);
    const all = (sql: string) => fresh.prepare(sql).all();
    return new Set(objectsIn({ all }).map(({ identity }) => identity));
  } finally {
    fresh.close();
  }
}

/** Lists the objects of a database, without SQLite's own tables and indexes such as `sqlite_sequence`. */
function objectsIn({ all }: Pick<Database, 'all'>): SchemaObject[] {
  return all('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')
    .filter(({ type, name }) => type === 'trigger' || type === 'view' || !String(name).startsWith('sqlite_'))
    .map(({ type, name, sql }) => ({ name: `${type} ${name}`, identity: JSON.stringify([type, name, sql]) }));
}
