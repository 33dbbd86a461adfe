import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { StorageDescription } from '../dialect.ts';
import { newestSchema, olderThanFirst } from '../schema/schema-version.ts';
import { type ArchiveMember, damaged, readContent } from './archive.ts';

/** The first member of a backup. It describes the others. */
export interface Manifest {
  /** Format version of the archive. */
  readonly format: typeof format;
  /** The Carrel version that made the backup. */
  readonly carrel: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Kind of the source database. A backup can be restored into either kind. */
  readonly backend: StorageDescription['backend'];
  readonly schema: number;
  readonly tables: readonly TableFacts[];
  /** Number of originals. */
  readonly files: number;
}

export interface TableFacts {
  readonly name: string;
  readonly rows: number;
  /** Column names, in the order of the values in each row. */
  readonly columns: readonly string[];
  /** The last generated row number, if the table numbers its rows; 0 if it never had any. */
  readonly last?: number;
}

export const manifestName = 'manifest.json';
export const format = 2;
const bytesMax = 1024 * 1024;

export function writeManifest(manifest: Manifest): ArchiveMember {
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  return { name: manifestName, size: content.length, content: [content] };
}

export async function readManifest(member: ArchiveMember): Promise<Manifest> {
  if (member.name !== manifestName) throw damaged();
  let parsed: unknown;
  try {
    parsed = JSON.parse((await readContent(member, bytesMax)).toString('utf8'));
  } catch (error) {
    throw damaged(error);
  }
  if (isObject(parsed) && Number(parsed['format']) > format) throw newerBackup();
  if (isObject(parsed) && parsed['format'] === 1) throw olderThanFirst('backup', Number(parsed['schema']));
  if (!isManifest(parsed)) throw damaged();
  return parsed;
}

function isManifest(value: unknown): value is Manifest {
  return (
    isObject(value) &&
    value['format'] === format &&
    typeof value['carrel'] === 'string' &&
    typeof value['createdAt'] === 'string' &&
    (value['backend'] === 'sqlite' || value['backend'] === 'postgres') &&
    isCount(value['schema']) &&
    isCount(value['files']) &&
    Array.isArray(value['tables']) &&
    value['tables'].every(isTableFacts)
  );
}

/** Throws if the backup does not have the current schema. */
export function checkBackupSchema({ schema }: Manifest): void {
  if (schema > newestSchema) throw newerBackup();
  if (schema < newestSchema) throw olderThanFirst('backup', schema);
}

function newerBackup(): CarrelError {
  return new CarrelError('storage_newer', 'The backup was made by a newer Carrel. Upgrade Carrel, then restore it.');
}

function isTableFacts(value: unknown): value is TableFacts {
  if (!isObject(value)) return false;
  const { name, rows, columns, last = 0 } = value;
  const isText = (each: unknown) => typeof each === 'string';
  return isText(name) && isCount(rows) && Array.isArray(columns) && columns.every(isText) && isCount(last);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function noData(): CarrelError {
  return new CarrelError('invalid_config', 'The database contains no Carrel data. Check its address.');
}

/** Throws if the database is not empty. */
export function checkEmpty(tables: readonly Pick<TableFacts, 'name' | 'rows'>[]): void {
  const used = tables.filter(({ name, rows }) => rows > 0 && !isFilledAtStart(name));
  if (used.length === 0) return;
  throw new CarrelError(
    'storage_not_empty',
    'The database is not empty, and the backup would replace its content. Back it up, then restore with --force.',
    { data: { rows: Object.fromEntries(used.map(({ name, rows }) => [name, rows])) } },
  );
}

/** Returns true for tables to which a server writes at its start, before anything is stored. */
function isFilledAtStart(table: string): boolean {
  return table === 'settings' || table === 'vector_models';
}
