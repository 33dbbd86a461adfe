import { statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { moveFile, writeNewFile } from '../../base/durable-files.ts';
import { CarrelError } from '../../base/errors.ts';
import { version } from '../../base/package-info.ts';
import { removeLeftovers, temporaryPath } from '../../base/temporary-files.ts';
import type { StorageLocation } from '../open-storage.ts';
import { newestSchema } from '../schema/schema-version.ts';
import { databaseFiles, realDatabase } from '../sqlite/database-paths.ts';
import { type ArchiveMember, damaged, readArchive, writeArchive } from './archive.ts';
import { checkBackupSchema, format, type Manifest, readManifest } from './manifest.ts';
import {
  type BackupOptions,
  type BackupSource,
  type Fill,
  fill,
  membersOf,
  type ProgressReport,
  type RestoreReport,
} from './transfer.ts';

export interface BackupLocation {
  readonly storage: StorageLocation;
  /** The folder with the originals next to a SQLite file. PostgreSQL stores originals in the database. */
  readonly originals: string;
}

export interface BackupReport extends Manifest {
  readonly bytes: number;
  /** The tables that were read back and compared. Set only if the backup came from the other kind of database. */
  readonly moved?: RestoreReport;
  /** Problems that did not prevent the backup or restore. */
  readonly warnings: readonly string[];
}

/**
 * Writes a snapshot of the database and the originals of documents to a file. The database stays writable meanwhile. The file
 * appears only when it is complete, verified and on disk.
 */
export async function backUp(location: BackupLocation, file: string, options: BackupOptions): Promise<BackupReport> {
  checkTarget(location, file, options.force);
  await makeParent(file);
  removeLeftovers(file);
  const unfinished = temporaryPath(file);
  const source = await openSource(location, options.onProgress);
  try {
    const manifest: Manifest = {
      format,
      carrel: version,
      createdAt: new Date().toISOString(),
      backend: location.storage.backend,
      schema: newestSchema,
      tables: source.tables,
      files: source.files,
    };
    await writeNewFile(unfinished, writeArchive(membersOf(manifest, source, options.onProgress)));
    await verifyBackup(unfinished, options.onProgress);
    await moveFile(unfinished, file);
    return { ...manifest, bytes: statSync(file).size, warnings: source.warnings };
  } finally {
    await rm(unfinished, { force: true });
    await source.close();
  }
}

/** Verifies a backup, then replaces the content of the database with it. A failure or a kill changes nothing. */
export async function restore(location: BackupLocation, file: string, options: BackupOptions): Promise<BackupReport> {
  const manifest = await verifyBackup(file, options.onProgress);
  checkBackupSchema(manifest);
  const members = membersAfterManifest(file, options.onProgress);
  const work: Fill<RestoreReport> = (target) => fill(target, manifest, members, options.onProgress);
  const report = await replaceContent(location, options, work);
  const moved = manifest.backend === location.storage.backend ? {} : { moved: report };
  return { ...manifest, bytes: statSync(file).size, ...moved, warnings: [] };
}

/** Throws if the file belongs to the database, is not a regular file, or exists and may not be overwritten. */
function checkTarget({ storage, originals }: BackupLocation, file: string, force: boolean): void {
  const rejection = (why: string) => new CarrelError('invalid_usage', `${file} ${why}`);
  const existing = statSync(file, { throwIfNoEntry: false });
  if (storage.backend === 'sqlite') {
    const database = statSync(storage.path, { throwIfNoEntry: false });
    // Compares inodes, because the same file may have several names.
    const isDatabase = existing !== undefined && existing.dev === database?.dev && existing.ino === database.ino;
    const files = databaseFiles(storage.path);
    const folders = [originals, realDatabase(originals)].map((folder) => `${folder}${sep}`);
    const isReserved = (name: string) => files.includes(name) || folders.some((folder) => name.startsWith(folder));
    if (isDatabase || isReserved(file) || isReserved(realDatabase(file)))
      throw rejection('belongs to the database. Choose another name.');
  }
  if (existing === undefined) return;
  if (!force) throw rejection('already exists. Choose another name, or overwrite it with --force.');
  if (!existing.isFile()) throw rejection('is not a file. Choose another name.');
}

/** Verifies a backup by reading all of it. */
export async function verifyBackup(file: string, onProgress: ProgressReport = () => {}): Promise<Manifest> {
  const total = sizeOf(file);
  let manifest: Manifest | undefined;
  let done = 0;
  for await (const member of readArchive(file)) {
    if (manifest === undefined) manifest = await readManifest(member);
    for await (const chunk of member.content) {
      done += chunk.length;
      onProgress('verifying', done, total);
    }
  }
  if (manifest === undefined) throw damaged();
  return manifest;
}

async function openSource({ storage, originals }: BackupLocation, onProgress: ProgressReport): Promise<BackupSource> {
  if (storage.backend === 'sqlite') {
    const { openSqliteSource } = await import('./sqlite/back-up.ts');
    return openSqliteSource({ path: storage.path, originals }, onProgress);
  }
  const { openPostgresSource } = await import('./postgres/back-up.ts');
  return openPostgresSource(storage);
}

async function replaceContent<T>(
  { storage, originals }: BackupLocation,
  options: BackupOptions,
  work: Fill<T>,
): Promise<T> {
  if (storage.backend === 'sqlite') {
    const { restoreSqlite } = await import('./sqlite/restore.ts');
    return restoreSqlite({ path: storage.path, originals }, options, work);
  }
  const { restorePostgres } = await import('./postgres/restore.ts');
  return restorePostgres(storage, options, work);
}

async function* membersAfterManifest(file: string, onProgress: ProgressReport): AsyncGenerator<ArchiveMember> {
  const total = sizeOf(file);
  let done = 0;
  for await (const member of readArchive(file)) {
    if (done > 0) yield member;
    done += member.size;
    onProgress('restoring', done, total);
  }
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile()) return stats.size;
  throw new CarrelError('invalid_usage', `${file} is not a file. Give the path of the backup to restore.`);
}

async function makeParent(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CarrelError('invalid_usage', `The folder of ${file} cannot be created. Choose another path.`, {
      cause: error,
    });
  }
}
