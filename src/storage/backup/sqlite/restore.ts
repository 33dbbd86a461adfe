import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { syncFolder } from '../../../base/durable-files.ts';
import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import { makeFolder } from '../../../base/make-folder.ts';
import { removeLeftovers, removeLeftoversIn, syncFile, temporaryPath } from '../../../base/temporary-files.ts';
import { checkSchema, newestSchema } from '../../schema/schema-version.ts';
import { columnNames, identityOf, type Table } from '../../schema/table.ts';
import { tables } from '../../schema/tables.ts';
import { checkOwner, type Database, openDatabase } from '../../sqlite/database.ts';
import { makePrivate } from '../../sqlite/database-file.ts';
import { realDatabase, removeDatabase } from '../../sqlite/database-paths.ts';
import { checkContent } from '../../sqlite/inspect.ts';
import { migrate, schemaVersion } from '../../sqlite/migrate.ts';
import { loadSqlite } from '../../sqlite/sqlite-module.ts';
import { isBusy, storageError } from '../../sqlite/storage-error.ts';
import { wordIndexes } from '../../words/word-indexes.ts';
import { damaged } from '../archive.ts';
import { checkEmpty, type TableInfo } from '../manifest.ts';
import { restoreOriginal } from '../originals.ts';
import type { StoredRow, StoredValue } from '../rows.ts';
import type { BackupOptions, Fill, RestoreTarget } from '../transfer.ts';
import { readTableInfo, rowsOf } from './back-up.ts';

/** How long to wait for a lock. A running server never closes its database, so waiting longer would not help. */
const busyTimeoutMs = 1000;

/** Fills a new database and the folder of originals, then replaces the old database. */
export async function restoreSqlite<T>(
  location: { readonly path: string; readonly originals: string },
  options: BackupOptions,
  fill: Fill<T>,
): Promise<T> {
  return replaceFile(location.path, options, async (fresh) => {
    removeLeftoversIn(location.originals);
    await withDatabase(fresh, migrate);
    makePrivate(fresh);
    const filled = await fillFile(fresh, location.originals, fill);
    options.onProgress('checking', 0, 0);
    await withDatabase(fresh, async (database) => {
      if (checkContent(database).length > 0) throw damaged();
    });
    return filled;
  });
}

/** Opens a database and calls `work`. Leaves a single file, without a log. */
async function withDatabase(path: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs });
  try {
    await work(database);
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

async function fillFile<T>(path: string, originals: string, fill: Fill<T>): Promise<T> {
  const database = new (loadSqlite().DatabaseSync)(path);
  try {
    // The file is not in use yet and is discarded after a failure, so it needs no journal on disk.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; BEGIN');
    database.exec('DELETE FROM settings');
    const filled = await fill(targetIn(database, originals));
    database.exec('COMMIT');
    return filled;
  } finally {
    database.close();
  }
}

function targetIn(database: DatabaseSync, originals: string): RestoreTarget {
  return {
    rows: (table) => rowsOf(database, table),
    write: (table, rows) => writeRows(database, table, rows),
    writeOriginal: (member) => restoreOriginal(member, originals),
    async finish(info) {
      rebuildIndexes(database);
      for (const table of tables) continueNumbers(database, table, info);
    },
  };
}

async function writeRows(database: DatabaseSync, table: Table, rows: AsyncIterable<StoredRow>): Promise<void> {
  const columns = columnNames(table);
  const marks = columns.map(() => '?').join(', ');
  const insert = database.prepare(`INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${marks})`);
  for await (const row of rows) {
    try {
      insert.run(...row.map(sqliteValue));
    } catch (error) {
      // Other errors, such as a full disk, do not mean that the backup is damaged.
      throw /constraint|datatype/i.test(String(error)) ? damaged(error) : error;
    }
  }
}

function sqliteValue(value: StoredValue): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return value instanceof Uint8Array ? value : JSON.stringify(value);
}

/** Rebuilds the word indexes and their statistics. */
function rebuildIndexes(database: DatabaseSync): void {
  for (const { name, owner, labels } of wordIndexes) {
    if (labels !== undefined) {
      database.exec(`UPDATE ${name}_terms SET labels = (SELECT (SELECT coalesce(group_concat('#' || hex(value), ' '), '')
        FROM json_each(o.${labels})) FROM ${owner} o WHERE o.key = ${name}_terms.key)`);
    }
    database.exec(`INSERT INTO ${name}_words (${name}_words) VALUES ('rebuild')`);
    database.exec(
      `UPDATE word_statistics SET (documents, title_length, heading_length, body_length) = (
         SELECT count(*), coalesce(sum(title_length), 0), coalesce(sum(heading_length), 0), coalesce(sum(body_length), 0)
         FROM ${name}_terms) WHERE word_index = '${name}'`,
    );
  }
}

/** Continues the numbering after the last number in the backup, so that numbers of removed rows are not reused. */
function continueNumbers(database: DatabaseSync, table: Table, info: readonly TableInfo[]): void {
  const { name } = table;
  const column = identityOf(table);
  if (column === undefined) return;
  const last = info.find((each) => each.name === name)?.last ?? 0;
  database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
  database
    .prepare(`INSERT INTO sqlite_sequence (name, seq) SELECT ?, max(?, coalesce(max(${column}), 0)) FROM ${name}`)
    .run(name, last);
}

/** Replaces a database: `make` creates the new file next to the old one, then a rename replaces it. */
async function replaceFile<T>(
  databasePath: string,
  { force }: BackupOptions,
  make: (fresh: string) => Promise<T>,
): Promise<T> {
  const path = realDatabase(databasePath);
  makeFolder(dirname(path));
  removeLeftovers(path);
  // Checked now to fail early, and again before the rename, because filling the new file takes time.
  replaceOrReject(path, force);
  const fresh = temporaryPath(path);
  try {
    const result = await make(fresh);
    syncFile(fresh);
    replaceOrReject(path, force, fresh);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    throw storageError(error);
  } finally {
    await removeDatabase(fresh);
  }
}

/** Renames the new file to the path. Throws if another process has the database open. Without `fresh`, only checks. */
function replaceOrReject(path: string, force: boolean, fresh?: string): void {
  try {
    // An empty file has no data to lose, so replacing it needs no --force.
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) replaceDatabase(path, force, fresh);
    else if (fresh !== undefined) replaceUnreadable(path, fresh);
  } catch (thrown) {
    if (isBusy(thrown)) throw inUse(thrown);
    const error = storageError(thrown);
    if (!isCarrelError(error) || error.code !== 'storage_corrupt') throw error;
    if (!force) {
      throw new CarrelError('storage_not_empty', `${path} is damaged. --force moves it aside and restores the backup.`);
    }
    if (fresh !== undefined) replaceUnreadable(path, fresh);
  }
}

function replaceDatabase(path: string, force: boolean, fresh: string | undefined): void {
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs });
  try {
    // Leaving WAL mode needs exclusive access and checkpoints the log. No log then remains that SQLite could apply to the new
    // file.
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    checkOwner(database);
    checkSchema(schemaVersion(database), newestSchema);
    if (!force && schemaVersion(database) > 0) checkEmpty(readTableInfo(database.get));
    if (fresh !== undefined) renameSync(fresh, path);
  } finally {
    database.close();
  }
}

/** Moves the old file and its log aside for recovery. SQLite would apply a remaining log to the new file. */
function replaceUnreadable(path: string, fresh: string): void {
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${path}.damaged${suffix}`);
  }
  renameSync(fresh, path);
}

function inUse(cause: unknown): CarrelError {
  return new CarrelError('storage_busy', 'A process has the database open. Stop Carrel, then restore again.', {
    cause,
    retryAfterSeconds: 1,
  });
}
