import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder, writeNewFile } from '../../base/durable-files.ts';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { type ArchiveMember, damaged } from '../backup/archive.ts';
import type { BackupOptions } from '../backup/backup-source.ts';
import { checkBackupSchema, checkEmpty, type Manifest, type TableFacts } from '../backup/manifest.ts';
import { isOriginal, restoreOriginal } from '../backup/originals.ts';
import { removeLeftovers, removeLeftoversIn, syncFile, temporaryPath } from '../backup/own-files.ts';
import { vectorCorpora } from '../contracts/vectors.ts';
import { checkSchema } from '../schema-version.ts';
import { countRows, databaseMember } from './back-up.ts';
import { checkOwner, type Database, openDatabase } from './database.ts';
import { closeToOthers } from './database-file.ts';
import { realDatabase, removeDatabase } from './database-files.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { migrations } from './migrations.ts';
import { isBusy, storageError } from './storage-error.ts';
import { checkContent } from './upkeep.ts';

export interface SqliteTarget {
  readonly path: string;
  readonly originals: string;
}

/** A server holds its database open as long as it runs, so waiting longer would not help. */
const busyTimeoutMs = 1000;

export async function restoreSqlite(
  target: SqliteTarget,
  manifest: Manifest,
  members: AsyncIterable<ArchiveMember>,
  options: BackupOptions,
): Promise<void> {
  checkBackupSchema(manifest, migrations.length);
  await replaceFile(target.path, options, async (fresh) => {
    removeLeftoversIn(target.originals);
    for await (const member of members) {
      if (member.name === databaseMember) await writeNewFile(fresh, member.content);
      else if (isOriginal(member)) await restoreOriginal(member, target.originals);
      else throw damaged();
    }
    options.onProgress('checking', 0, 0);
    await examine(fresh, manifest);
  });
}

/** The new database is made beside the old one by `make`, and renamed to its place in one step. */
export async function replaceFile(
  given: string,
  { force }: BackupOptions,
  make: (fresh: string) => Promise<void>,
): Promise<void> {
  const path = realDatabase(given);
  makeFolder(dirname(path));
  removeLeftovers(path);
  // Refused now if it must be; once more under the lock, because the copying takes a while.
  takeOver(path, force);
  const fresh = temporaryPath(path);
  try {
    await make(fresh);
    syncFile(fresh);
    takeOver(path, force, fresh);
    await syncFolder(dirname(path));
  } catch (error) {
    throw storageError(error);
  } finally {
    await removeDatabase(fresh);
  }
}

/** Checks that a copy holds what the backup says, and brings it to this version's schema. */
export async function examine(fresh: string, manifest: Manifest): Promise<void> {
  if (!existsSync(fresh)) throw damaged();
  const database = openDatabase({ path: fresh, role: 'writer', busyTimeoutMs });
  try {
    checkOwner(database);
    closeToOthers(fresh);
    if (schemaVersion(database) !== manifest.schema) throw damaged();
    if (!sameRows(countRows(database), manifest.tables)) throw damaged();
    await settle(database);
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/** Brings a database that is not in use yet to this version's schema, and checks it. */
export async function settle(database: Database): Promise<void> {
  await migrate(database);
  // Whoever embedded something when the backup was made does so no more.
  for (const corpus of vectorCorpora) {
    database.exec(
      `UPDATE ${corpus}_unembedded SET claimed_by = NULL, claimed_until = NULL WHERE claimed_by IS NOT NULL`,
    );
  }
  if (checkContent(database).length > 0) throw damaged();
}

function sameRows(found: readonly TableFacts[], stated: readonly TableFacts[]): boolean {
  const rows = new Map(found.map(({ name, rows: count }) => [name, count]));
  return found.length === stated.length && stated.every(({ name, rows: count }) => rows.get(name) === count);
}

/**
 * Renames the new file to the path while nobody else has the database open, and refuses where its content must not go.
 * Without a new file, it only looks whether it would refuse.
 */
function takeOver(path: string, force: boolean, fresh?: string): void {
  try {
    // An empty file is what is left of a database, and holds nothing to ask --force for.
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
    // Leaving the log's mode needs the file for itself, and brings the log's content into it: no log stays behind that
    // would be taken for the new file's.
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    checkOwner(database);
    checkSchema(schemaVersion(database), migrations.length);
    if (!force) checkEmpty(countRows(database));
    if (fresh !== undefined) renameSync(fresh, path);
  } finally {
    database.close();
  }
}

/**
 * Moved aside with its log: somebody may still read something out of it. A log without its database is moved, too: SQLite
 * would take it for the new file's.
 */
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
