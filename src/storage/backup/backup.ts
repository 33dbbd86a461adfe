import { existsSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { moveFile, writeNewFile } from '../../base/durable-files.ts';
import { CarrelError } from '../../base/errors.ts';
import { version } from '../../base/package-info.ts';
import type { StoragePlace } from '../open-storage.ts';
import { type ArchiveMember, damaged, readArchive, writeArchive } from './archive.ts';
import type { BackupOptions, BackupSource, ProgressReport } from './backup-source.ts';
import { format, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { removeLeftovers, temporaryPath } from './own-files.ts';

export interface BackupPlace {
  readonly storage: StoragePlace;
  /** The folder of originals that belongs to a SQLite file. PostgreSQL keeps them itself. */
  readonly originals: string;
}

export interface BackupReport extends Manifest {
  readonly bytes: number;
  /** Remarks about a backup or restore that succeeded. */
  readonly warnings: readonly string[];
}

/**
 * Writes one consistent state of the database, with everything that belongs to it, into a file, while others keep
 * writing. The file appears only when it is complete, has been read back, and is on disk.
 */
export async function backUp(place: BackupPlace, file: string, options: BackupOptions): Promise<BackupReport> {
  if (existsSync(file) && !options.force) {
    throw new CarrelError(
      'invalid_usage',
      `${file} exists already. Choose another name, or overwrite it with --force.`,
    );
  }
  await makeParent(file);
  removeLeftovers(file);
  const unfinished = temporaryPath(file);
  const source = await openSource(place, file, options.onProgress);
  try {
    const manifest: Manifest = {
      ...{ format, carrel: version, createdAt: new Date().toISOString(), backend: place.storage.backend },
      ...{ schema: source.schema, tables: source.tables, files: source.files },
    };
    await writeNewFile(unfinished, writeArchive(withManifest(manifest, source)));
    await verifyBackup(unfinished, options.onProgress);
    await moveFile(unfinished, file);
    return { ...manifest, bytes: statSync(file).size, warnings: source.warnings };
  } finally {
    await rm(unfinished, { force: true });
    await source.close();
  }
}

/**
 * Replaces the content of the database with a backup: all of it or, if anything is wrong or the process
 * is killed, nothing. The whole backup is verified before anything is touched.
 */
export async function restore(place: BackupPlace, file: string, options: BackupOptions): Promise<BackupReport> {
  const manifest = await verifyBackup(file, options.onProgress);
  checkBackend(manifest, place);
  const members = membersAfterManifest(file, options.onProgress);
  if (place.storage.backend === 'sqlite') {
    const { restoreSqlite } = await import('../sqlite/restore.ts');
    await restoreSqlite({ path: place.storage.path, originals: place.originals }, manifest, members, options);
  } else {
    const { restorePostgres } = await import('../postgres/restore.ts');
    await restorePostgres(place.storage, manifest, members, options);
  }
  return { ...manifest, bytes: statSync(file).size, warnings: [] };
}

/** Reads a whole backup, which is the only way to know that it is intact. */
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

async function openSource(place: BackupPlace, file: string, onProgress: ProgressReport): Promise<BackupSource> {
  if (place.storage.backend === 'sqlite') {
    const { openSqliteSource } = await import('../sqlite/back-up.ts');
    const copy = `${temporaryPath(file)}-database`;
    return openSqliteSource({ path: place.storage.path, originals: place.originals, copy }, onProgress);
  }
  const { openPostgresSource } = await import('../postgres/back-up.ts');
  return openPostgresSource(place.storage, onProgress);
}

async function* withManifest(manifest: Manifest, source: BackupSource): AsyncGenerator<ArchiveMember> {
  yield writeManifest(manifest);
  yield* source.members();
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

const nameOf = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

function checkBackend({ backend }: Manifest, { storage }: BackupPlace): void {
  if (backend === storage.backend) return;
  throw new CarrelError(
    'invalid_backup',
    `The backup was made from ${nameOf[backend]}, and ${nameOf[storage.backend]} is configured. ` +
      `Set STORAGE_BACKEND=${backend === 'sqlite' ? 'sqlite' : 'postgresql'} and restore it there.`,
  );
}

function sizeOf(file: string): number {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts?.isFile()) return facts.size;
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
