import { closeSync, createReadStream, existsSync, openSync, statSync } from 'node:fs';
import { CarrelError } from '../../base/errors.ts';
import type { BackupSource, ProgressReport } from '../backup/backup-source.ts';
import type { TableFacts } from '../backup/manifest.ts';
import { type HeldOriginals, holdOriginals } from '../backup/originals.ts';
import { numberOf, textOf } from '../rows.ts';
import { checkSchema } from '../schema-version.ts';
import { checkOwner, type Database, openDatabase } from './database.ts';
import { closeToOthers } from './database-file.ts';
import { removeDatabase } from './database-files.ts';
import { schemaVersion } from './migrate.ts';
import { migrations } from './migrations.ts';
import { openFailure } from './open-failure.ts';
import { loadSqlite } from './sqlite-module.ts';
import { storageError } from './storage-error.ts';
import { checkContent } from './upkeep.ts';

export interface SqliteSourcePlace {
  readonly path: string;
  readonly originals: string;
  /** Where the copy is made; removed on close. */
  readonly copy: string;
}

export const databaseMember = 'database.sqlite';

/** Pages that are copied between two reports of progress. */
const pagesAtOnce = 2048;

const busyTimeoutMs = 5000;

/** Copies one state of a database that others may be writing to, and checks the copy. */
export async function openSqliteSource(place: SqliteSourcePlace, onProgress: ProgressReport): Promise<BackupSource> {
  const { path, copy } = place;
  if (!existsSync(path)) {
    throw new CarrelError('invalid_config', `There is no database at ${path}. Check --data-dir and DB_PATH.`);
  }
  const originals = await holdOriginals(place.originals);
  const close = async () => {
    await originals.release();
    await removeDatabase(copy);
  };
  try {
    await copyDatabase(path, copy, onProgress);
    await originals.catchUp();
    onProgress('checking', 0, 0);
    const { needed, ...facts } = examineCopy(copy);
    const warnings = missingWarnings(needed.filter((hash) => !originals.has(hash)).length);
    return { ...facts, warnings, files: originals.count, members: () => members(copy, originals), close };
  } catch (error) {
    await close();
    throw storageError(openFailure(path, error));
  }
}

/** The tables whose rows are counted: ours, without those that the full-text index keeps for itself. */
export function countRows(database: Database): TableFacts[] {
  const names = database
    .all(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .map((row) => textOf(row, 'name'))
    .sort();
  return names.map((name) => ({
    name,
    rows: numberOf(database.get(`SELECT count(*) AS total FROM ${name}`) ?? {}, 'total'),
  }));
}

async function copyDatabase(path: string, copy: string, onProgress: ProgressReport): Promise<void> {
  const { backup, DatabaseSync } = loadSqlite();
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    source.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // Held to the end: every page is of the same state, and no writer makes the copy begin again.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    closeSync(openSync(copy, 'wx', 0o600));
    await backup(source, copy, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) => onProgress('copying', totalPages - remainingPages, totalPages),
    });
  } finally {
    source.close();
  }
}

function missingWarnings(count: number): string[] {
  if (count === 0) return [];
  return [`The original files of ${count} documents are missing from the data folder, and so from the backup.`];
}

interface CopyFacts extends Pick<BackupSource, 'schema' | 'tables'> {
  /** The originals that documents and waiting jobs refer to. */
  readonly needed: string[];
}

function examineCopy(copy: string): CopyFacts {
  const database = openDatabase({ path: copy, role: 'writer', busyTimeoutMs });
  try {
    checkOwner(database);
    closeToOthers(copy);
    const schema = checkSchema(schemaVersion(database), migrations.length);
    // An older schema has not all that the check looks at; the next start brings it up to date.
    const problems = schema === migrations.length ? checkContent(database) : [];
    if (problems.length > 0) {
      throw new CarrelError(
        'storage_corrupt',
        `The database is damaged and was not backed up. ${problems[0]} Restore an earlier backup.`,
      );
    }
    const tables = countRows(database);
    const needed = tables.some(({ name }) => name === 'kb_documents') ? readNeeded(database, tables) : [];
    // Without a log beside it, the copy is one whole file.
    database.exec('PRAGMA journal_mode = DELETE');
    return { schema, tables, needed };
  } finally {
    database.close();
  }
}

/** Notes are in the database whole. */
function readNeeded(database: Database, tables: readonly { name: string }[]): string[] {
  // A database of an earlier schema is copied as it is.
  const has = (table: string): boolean => tables.some(({ name }) => name === table);
  const deleted = has('kb_deleted') ? 'UNION SELECT content_hash FROM kb_deleted WHERE note IS NULL' : '';
  const hash = has('access_tokens') ? 'coalesce(bytes_hash, content_hash)' : 'content_hash';
  const rows = database.all(
    `SELECT ${hash} AS hash FROM kb_documents WHERE key NOT IN (SELECT document FROM kb_notes)
     ${deleted} UNION SELECT ${hash} FROM kb_jobs
     WHERE kind = 'ingest' AND status IN ('queued', 'processing') AND note IS NULL AND content_hash IS NOT NULL`,
  );
  return rows.map((row) => textOf(row, 'hash'));
}

async function* members(copy: string, originals: HeldOriginals): ReturnType<BackupSource['members']> {
  yield { name: databaseMember, size: statSync(copy).size, content: createReadStream(copy) };
  yield* originals.members();
}
