import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as sqlite from 'node:sqlite';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { CarrelError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import type { Language } from '../../words/language.ts';
import { numberOf } from '../rows.ts';
import { isBusy } from './storage-error.ts';

export interface DatabaseConfig {
  /** Of all words. A writer without it keeps the one that the database has; a reader must be told. */
  readonly language?: Language | undefined;
  readonly path: string;
  /** Where the bytes of documents are, for a thread that is asked for them. */
  readonly documentsDir?: string;
  readonly role: 'writer' | 'reader';
  /** How long SQLite waits for another connection's lock. */
  readonly busyTimeoutMs: number;
}

export type Row = Record<string, SQLOutputValue>;

/** One connection of one thread. */
export interface Database {
  all(sql: string, ...values: SQLInputValue[]): Row[];
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  /** The rowid of the last row that was inserted. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** The number of rows that were changed or removed. */
  change(sql: string, ...values: SQLInputValue[]): number;
  /** Several statements, none with parameters: schemas and pragmas. */
  exec(sql: string): void;
  /**
   * All of it or nothing. Takes the write lock at the start, so that it cannot fail half-way for the lock's sake. Whoever
   * calls sees to it that nothing else is done meanwhile.
   */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** All statements see the same state. */
  readOnce<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Attempts to get the write lock, each of which waits `busyTimeoutMs`. */
const lockAttemptsMax = 3;

const statementsMax = 1000;

export function openDatabase(config: DatabaseConfig): Database {
  if (config.role === 'writer') prepareFile(config.path);
  checkIsFile(config.path);
  const connection = new (loadSqlite().DatabaseSync)(config.path, { readOnly: config.role === 'reader' });
  try {
    configure(connection, config);
  } catch (error) {
    connection.close();
    throw error;
  }
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = connection.prepare(sql);
    // Filters make many texts; those that come again are prepared again.
    if (statements.size >= statementsMax) statements.clear();
    statements.set(sql, statement);
    return statement;
  };
  return {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    run: (sql, ...values) => Number(prepared(sql).run(...values).lastInsertRowid),
    change: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    exec: (sql) => connection.exec(sql),
    transaction: (work) => transaction(connection, work),
    async readOnce(work) {
      connection.exec('BEGIN');
      try {
        return await work();
      } finally {
        connection.exec('COMMIT');
      }
    },
    close: () => connection.close(),
  };
}

function prepareFile(path: string): void {
  try {
    makeFolder(dirname(path));
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  } catch (cause) {
    const message = 'The database cannot be created there. Check the path (DB_PATH, --data-dir) and its permissions.';
    throw new CarrelError('invalid_config', message, { cause });
  }
}

function checkIsFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== false) return;
  const what = found.isDirectory() ? 'a folder. Name a file in it' : 'neither a file nor a new one. Name a file';
  throw new CarrelError('invalid_config', `The path of the database (DB_PATH) is ${what} instead.`);
}

/**
 * Notes and memories are nobody else's to read. Only for a file that is known to be ours: what else a path may name by
 * mistake keeps its mode. SQLite gives the log and its index the mode of the database file, when it makes them.
 */
export function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      const { mode } = statSync(file);
      if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
    } catch {
      // No such file, another user's, or a read-only disk: opening it will tell.
    }
  }
}

function configure(connection: DatabaseSync, config: DatabaseConfig): void {
  // Before anything else, because switching to the log needs a lock too.
  connection.exec(`PRAGMA busy_timeout = ${config.busyTimeoutMs}`);
  // A file that was made by somebody else must not run code of theirs through its schema.
  connection.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON');
  connection.exec('PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY');
  // Node 22 has no way to say this; there, trusted_schema is what protects.
  if (typeof connection.enableDefensive === 'function') connection.enableDefensive(true);
  if (config.role === 'reader') return;
  // First: what belongs to another program stays as it is.
  checkOwner({ get: (sql) => connection.prepare(sql).get() });
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  connection.exec('PRAGMA journal_size_limit = 67108864');
  // Pages that many transactions change, as those of the word index, are carried over once for all of them.
  connection.exec('PRAGMA wal_autocheckpoint = 4000');
}

async function transaction<T>(connection: DatabaseSync, work: () => Promise<T>): Promise<T> {
  begin(connection);
  try {
    const result = await work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some errors (a full disk), and then there is nothing left to roll back.
    if (connection.isTransaction !== false) rollback(connection);
    throw error;
  }
}

function begin(connection: DatabaseSync): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      connection.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error) || attempt >= lockAttemptsMax) throw error;
    }
  }
}

function rollback(connection: DatabaseSync): void {
  try {
    connection.exec('ROLLBACK');
  } catch {
    // `isTransaction` is missing in Node before 22.16, so this is also how we learn that none is open.
  }
}

/**
 * Node 22 announces on stderr that its SQLite is experimental, once per thread. Nobody who runs this program can act on
 * that, so this one warning is held back while the module loads; all others pass.
 */
export function loadSqlite(): typeof sqlite {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** "Carr", as the file format keeps it in the header. */
export const applicationId = 0x43617272;

/** The tables of another program are not ours to add to. */
export function checkOwner(database: Pick<Database, 'get'>): void {
  const row = database.get('PRAGMA application_id');
  const id = row === undefined ? 0 : numberOf(row, 'application_id');
  if (id === applicationId) return;
  const used = database.get('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined;
  if (id === 0 && !used) return;
  throw new CarrelError(
    'storage_foreign',
    'The database file belongs to another program. Choose another file, or move this one away.',
  );
}
