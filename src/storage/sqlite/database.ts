import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Language } from '../../words/language.ts';
import { numberOf } from '../rows.ts';
import { checkIdentity, ensureDatabaseFile, type FileIdentity, type FileWatch, watchFile } from './database-file.ts';
import { applicationId, loadSqlite } from './sqlite-module.ts';
import { isBusy, openFailure } from './storage-error.ts';

export interface DatabaseConfig {
  /** Language for splitting and stemming words. Required for readers; a writer defaults to the database's language. */
  readonly language?: Language | undefined;
  readonly path: string;
  /** Identity of the expected file. A writer without it creates the database if it is missing. */
  readonly identity?: FileIdentity;
  /** Folder of original files. Set only for threads that read them. */
  readonly documentsDir?: string;
  readonly role: 'writer' | 'reader';
  /** How long SQLite waits for another connection's lock. */
  readonly busyTimeoutMs: number;
}

export type Row = Record<string, SQLOutputValue>;

/** One connection, used by one thread. */
export interface Database {
  all(sql: string, ...values: SQLInputValue[]): Row[];
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  /** Runs a statement and returns the rowid of the last inserted row. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs several statements without parameters, for schemas and pragmas. */
  exec(sql: string): void;
  /** Runs `work` in a transaction, with the write lock. The connection must not be used for anything else meanwhile. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` on one snapshot: all statements see the same state. */
  readSnapshot<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Max attempts to get the write lock. Each waits for `busyTimeoutMs`. */
const lockAttemptsMax = 3;

const statementsMax = 1000;

/** Size of a connection's page cache. A writer's cache also contains its uncommitted changes. */
const cacheKilobytes = { reader: 4_096, writer: 8_192 } as const;

export function openDatabase(config: DatabaseConfig): Database {
  const { path, role } = config;
  const identity = config.identity ?? (role === 'writer' ? ensureDatabaseFile({ path }) : undefined);
  // Opening a missing file would create a new one.
  checkIdentity(path, identity);
  const connection = connect(path, role);
  let watch: FileWatch | undefined;
  try {
    configure(connection, config);
    if (role === 'writer') watch = watchFile(path, identity);
    else checkIdentity(path, identity);
  } catch (error) {
    // Must run before `close`, which frees file descriptors and so could hide the cause.
    const explained = openFailure(path, error);
    connection.close();
    throw explained;
  }
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const cached = statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = connection.prepare(sql);
    // Filters produce many different statements. After clearing, the frequent ones are prepared again.
    if (statements.size >= statementsMax) statements.clear();
    statements.set(sql, statement);
    return statement;
  };
  return {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    run: (sql, ...values) => Number(prepared(sql).run(...values).lastInsertRowid),
    exec: (sql) => connection.exec(sql),
    transaction: (work) => transaction(connection, watch, work),
    async readSnapshot(work) {
      connection.exec('BEGIN');
      try {
        return await work();
      } finally {
        // A failed read may have ended the transaction. A second error would hide the first one.
        if (connection.isTransaction) connection.exec('COMMIT');
      }
    },
    close: () => connection.close(),
  };
}

function connect(path: string, role: DatabaseConfig['role']): DatabaseSync {
  try {
    return new (loadSqlite().DatabaseSync)(path, { readOnly: role === 'reader' });
  } catch (error) {
    throw openFailure(path, error);
  }
}

function configure(connection: DatabaseSync, config: DatabaseConfig): void {
  // Must come first, because switching to WAL needs a lock too.
  connection.exec(`PRAGMA busy_timeout = ${config.busyTimeoutMs}`);
  // An untrusted file must not run code through its schema.
  connection.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON');
  connection.exec(`PRAGMA cache_size = -${cacheKilobytes[config.role]}; PRAGMA temp_store = MEMORY`);
  // Node 22 does not have this method. There, `trusted_schema = OFF` is the only protection.
  if (typeof connection.enableDefensive === 'function') connection.enableDefensive(true);
  if (config.role === 'reader') return;
  // Must precede the changes below: another program's file must stay as it is.
  checkOwner({ get: (sql) => connection.prepare(sql).get() });
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  connection.exec('PRAGMA journal_size_limit = 67108864');
  // Many transactions change the same pages of the word index. With rare checkpoints, each page is written only once.
  connection.exec('PRAGMA wal_autocheckpoint = 4000');
}

async function transaction<T>(
  connection: DatabaseSync,
  watch: FileWatch | undefined,
  work: () => Promise<T>,
): Promise<T> {
  begin(connection);
  try {
    watch?.check('before');
    const result = await work();
    connection.exec('COMMIT');
    watch?.check('after');
    return result;
  } catch (error) {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (connection.isTransaction) connection.exec('ROLLBACK');
    if (isCarrelError(error) && error.code === 'storage_lost' && watch?.logIsGone()) rescue(connection);
    throw error;
  }
}

/** Copies committed transactions from the deleted log to the database. Only this connection still has the log open. */
function rescue(connection: DatabaseSync): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(FULL)');
  } catch {
    // The caller already reports the loss and what to do.
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

/** Throws if the database belongs to another program, so that Carrel never changes it. */
export function checkOwner(database: Pick<Database, 'get'>): void {
  const row = database.get('PRAGMA application_id');
  const id = row === undefined ? 0 : numberOf(row, 'application_id');
  if (id === applicationId) return;
  const used = database.get('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined;
  if (id === 0 && !used) return;
  const [whose, choices] = isContextServer(database)
    ? [
        'mcp-context-server',
        'Choose another file (DB_PATH), then run carrel import with this one: it imports the entries and leaves the file unchanged.',
      ]
    : ['another program', 'Choose another file, or move this one away.'];
  throw new CarrelError('storage_foreign', `The database file belongs to ${whose}. ${choices}`);
}

/** Returns true for a database of mcp-context-server, whose tools Carrel's context store implements. */
function isContextServer(database: Pick<Database, 'get'>): boolean {
  const row = database.get(
    "SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND name IN ('context_entries', 'image_attachments')",
  );
  return row !== undefined && numberOf(row, 'count') === 2;
}
