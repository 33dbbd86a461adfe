import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { newestSchema, olderThanFirst } from '../schema/schema-version.ts';
import { type ArchiveMember, damaged, readContent } from './archive.ts';

export const manifestName = 'manifest.json';

/** Format version of the archive. */
export const format = 2;

const count = z.int().nonnegative();

const tableSchema = z.object({
  name: z.string(),
  rows: count,
  /** Column names, in the order of the values in each row. */
  columns: z.array(z.string()).readonly(),
  /** The last generated row number, if the database numbers the rows; 0 if it has generated none. */
  last: count.optional(),
});

const manifestSchema = z.object({
  format: z.literal(format),
  /** The Carrel version that made the backup. */
  carrel: z.string(),
  /** ISO 8601, UTC. */
  createdAt: z.string(),
  /** Kind of the source database. A backup can be restored into either kind. */
  backend: z.enum(['sqlite', 'postgres']),
  schema: count,
  tables: z.array(tableSchema).readonly(),
  /** Number of originals. */
  files: count,
});

export type TableInfo = Readonly<z.infer<typeof tableSchema>>;

/** The first member of a backup. It describes the others. */
export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

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
  const { data, error } = manifestSchema.safeParse(parsed);
  if (data === undefined) throw damaged(error);
  return data;
}

/** Throws if the backup does not have the current schema. */
export function checkBackupSchema({ schema }: Manifest): void {
  if (schema > newestSchema) throw newerBackup();
  if (schema < newestSchema) throw olderThanFirst('backup', schema);
}

function newerBackup(): CarrelError {
  return new CarrelError('storage_newer', 'The backup was made by a newer Carrel. Upgrade Carrel, then restore it.');
}

export function noData(): CarrelError {
  return new CarrelError('invalid_config', 'The database contains no Carrel data. Check its address.');
}

/** Tables to which a server writes at its start, before anything is stored. */
const filledAtStart = ['settings', 'vector_models'];

/** Throws if the database is not empty. */
export function checkEmpty(tables: readonly TableInfo[]): void {
  const used = tables.filter(({ name, rows }) => rows > 0 && !filledAtStart.includes(name));
  if (used.length === 0) return;
  throw new CarrelError(
    'storage_not_empty',
    'The database is not empty, and the backup would replace its content. Back it up, then restore with --force.',
    { data: { rows: Object.fromEntries(used.map(({ name, rows }) => [name, rows])) } },
  );
}
