import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { StorageDescription } from '../contracts/storage.ts';
import { isFilledFromTheStart } from '../stores/words/word-analysis.ts';
import { type ArchiveMember, damaged, readContent } from './archive.ts';

/** The first member of a backup: what the others are. */
export interface Manifest {
  /** Of the archive's layout. */
  readonly format: typeof format;
  /** The version of the program that made it. */
  readonly carrel: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly backend: StorageDescription['backend'];
  readonly schema: number;
  readonly tables: readonly TableFacts[];
  /** Originals of documents that are kept as files beside the database. */
  readonly files: number;
}

export interface TableFacts {
  readonly name: string;
  readonly rows: number;
  /** Of PostgreSQL: in the order of the values in each line. */
  readonly columns?: readonly string[];
  /** Of PostgreSQL: where the numbering of each identity column stands. */
  readonly sequences?: Readonly<Record<string, number>>;
}

export const manifestName = 'manifest.json';
export const format = 1;
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

/** Refuses a backup of a schema that only a later version of this program knows. */
export function checkBackupSchema({ schema }: Manifest, newest: number): void {
  if (schema > newest) throw newerBackup();
}

function newerBackup(): CarrelError {
  return new CarrelError('storage_newer', 'The backup was made by a newer Carrel. Upgrade Carrel, then restore it.');
}

/** Names become part of statements, so only characters that our own names use are allowed. */
const identifier = /^[a-z_][a-z0-9_]{0,62}$/;

function isTableFacts(value: unknown): value is TableFacts {
  if (!isObject(value)) return false;
  const { name, rows, columns = [], sequences = {} } = value;
  return (
    isIdentifier(name) &&
    isCount(rows) &&
    Array.isArray(columns) &&
    columns.every(isIdentifier) &&
    isObject(sequences) &&
    Object.entries(sequences).every(([column, last]) => isIdentifier(column) && isCount(last))
  );
}

function isIdentifier(value: unknown): boolean {
  return typeof value === 'string' && identifier.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Refuses a database that is not empty. */
export function checkEmpty(tables: readonly TableFacts[]): void {
  const used = tables.filter(({ name, rows }) => rows > 0 && !isFilledFromTheStart(name) && !isChosen(name));
  if (used.length === 0) return;
  throw new CarrelError(
    'storage_not_empty',
    'The database is not empty, and the backup would replace its content. Back it up, then restore with --force.',
    { data: { tables: used.map(({ name }) => name), rows: used.reduce((sum, { rows }) => sum + rows, 0) } },
  );
}

/** A server notes which model it uses when it starts, before there is anything to embed. */
function isChosen(name: string): boolean {
  return name.endsWith('_models');
}
