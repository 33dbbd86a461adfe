import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { CarrelError } from '../../../base/errors.ts';
import { checkSchema, newestSchema } from '../../schema/schema-version.ts';
import { type ColumnKind, columnNames, identityOf, type Table } from '../../schema/table.ts';
import { tables } from '../../schema/tables.ts';
import { checkOwner, type Database } from '../../sqlite/database.ts';
import { loadSqlite } from '../../sqlite/sqlite-module.ts';
import { openFailure, storageError } from '../../sqlite/storage-error.ts';
import { noData, type TableInfo } from '../manifest.ts';
import { linkOriginals } from '../originals.ts';
import type { StoredRow, StoredValue } from '../rows.ts';
import type { BackupSource, ProgressReport } from '../transfer.ts';

const busyTimeoutMs = 5000;

/** Opens and checks a snapshot of a database. Other processes may be writing to the database. */
export async function openSqliteSource(
  location: { readonly path: string; readonly originals: string },
  onProgress: ProgressReport,
): Promise<BackupSource> {
  const { path } = location;
  if (!existsSync(path)) {
    throw new CarrelError('invalid_config', `No database found at ${path}. Check --data-dir and DB_PATH.`);
  }
  const originals = await linkOriginals(location.originals);
  let database: DatabaseSync | undefined;
  const close = async () => {
    database?.close();
    await originals.unlink();
  };
  try {
    database = openReadOnly(path);
    // In WAL mode, a reader blocks no writer and sees the same snapshot until its transaction ends.
    database.exec('BEGIN');
    onProgress('checking', 0, 0);
    checkState(database);
    await originals.linkNew();
    const missing = neededOriginals(database).filter((hash) => !originals.has(hash)).length;
    const reader = database;
    return {
      tables: readTableInfo((sql, ...values) => reader.prepare(sql).get(...values)),
      files: originals.count,
      warnings:
        missing === 0
          ? []
          : [`The original files of ${missing} documents are missing from the data folder and from the backup.`],
      rows: (table) => rowsOf(reader, table),
      originals: () => originals.members(),
      close,
    };
  } catch (error) {
    await close();
    throw storageError(openFailure(path, error));
  }
}

export function readTableInfo(get: Database['get']): TableInfo[] {
  return tables.map((table) => {
    const { name } = table;
    const rows = Number(get(`SELECT count(*) AS rows FROM ${name}`)?.['rows']);
    const last = Number(get('SELECT seq FROM sqlite_sequence WHERE name = ?', name)?.['seq'] ?? 0);
    return { name, rows, columns: columnNames(table), ...(identityOf(table) === undefined ? {} : { last }) };
  });
}

export function* rowsOf(database: DatabaseSync, table: Table): Generator<StoredRow> {
  const columns = Object.entries(table.columns);
  for (const row of database.prepare(`SELECT ${columnNames(table).join(', ')} FROM ${table.name}`).iterate()) {
    yield columns.map(([name, { kind }]) => storedValue(row[name] ?? null, kind));
  }
}

function storedValue(value: SQLOutputValue, kind: ColumnKind): StoredValue {
  if (kind === 'list') return (JSON.parse(String(value)) as unknown[]).map(String);
  return typeof value === 'bigint' ? Number(value) : value;
}

function openReadOnly(path: string): DatabaseSync {
  const database = new (loadSqlite().DatabaseSync)(path, { readOnly: true });
  // An untrusted file must not run code through its schema.
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`);
  return database;
}

function checkState(database: DatabaseSync): void {
  const get = (sql: string) => database.prepare(sql).get();
  checkOwner({ get });
  const schema = checkSchema(Number(get('PRAGMA user_version')?.['user_version']), newestSchema);
  if (schema !== newestSchema) throw noData();
  const replaced = tables.find(({ name }) => !isTable(database, name))?.name;
  if (replaced !== undefined) {
    throw new CarrelError(
      'storage_corrupt',
      `${replaced} is not a table, so the database was not backed up. Restore an earlier backup.`,
    );
  }
  const result = String(get('PRAGMA quick_check(1)')?.['quick_check']);
  if (result === 'ok') return;
  throw new CarrelError(
    'storage_corrupt',
    `The database is damaged and was not backed up: ${result}. Restore an earlier backup.`,
  );
}

/** Returns true if the name is a table. Reading a view of the same name might never end. */
function isTable(database: DatabaseSync, name: string): boolean {
  const row = database.prepare("SELECT 1 FROM pragma_table_list(?) WHERE schema = 'main' AND type = 'table'").get(name);
  return row !== undefined;
}

/** Returns the hashes of the originals that documents and unfinished jobs refer to. Notes have no original. */
function neededOriginals(database: DatabaseSync): string[] {
  const rows = database
    .prepare(
      `SELECT content_hash AS hash FROM kb_documents WHERE note IS NULL
       UNION SELECT content_hash FROM kb_deleted WHERE note IS NULL
       UNION SELECT content_hash FROM kb_jobs
       WHERE kind = 'ingest' AND status IN ('queued', 'processing') AND note IS NULL AND content_hash IS NOT NULL`,
    )
    .all();
  return rows.map((row) => String(row['hash']));
}
