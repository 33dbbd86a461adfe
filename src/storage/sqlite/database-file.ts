import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { syncFolderSync } from '../../base/durable-files.ts';
import { CarrelError, isCarrelError, systemCode } from '../../base/errors.ts';
import { makeFolder, namesIn } from '../../base/make-folder.ts';
import { removeLeftovers, temporaryPath } from '../../base/temporary-files.ts';
import { databaseFiles, realDatabase, sqliteSuffixes } from './database-paths.ts';
import { applicationId, loadSqlite } from './sqlite-module.ts';
import { isForbidden, notReadable, storageError } from './storage-error.ts';

/** Device and inode of a file. They reveal that a file was replaced. */
export type FileIdentity = string;

export interface DatabaseLocation {
  readonly path: string;
  /** The folder that contains the bytes of documents. */
  readonly documentsDir?: string | undefined;
}

/** Creates the database file if it is missing, and returns its identity. A new file gets its name only when it is complete. */
export function ensureDatabaseFile(location: DatabaseLocation): FileIdentity {
  checkNotLost(location);
  const existing = identityOf(location.path);
  if (existing !== undefined) return existing;
  try {
    const real = realDatabase(location.path);
    makeFolder(dirname(real));
    makeDatabase(real);
  } catch (cause) {
    const explained = storageError(cause);
    if (isCarrelError(explained) && explained.code === 'storage_full') throw explained;
    throw unusable(cause);
  }
  return identityOf(location.path) ?? throwLost();
}

function unusable(cause: unknown): CarrelError {
  const message = 'The database cannot be created there. Check the path (DB_PATH, --data-dir) and its permissions.';
  return new CarrelError('invalid_config', message, { cause });
}

/** Throws if the database existed but is missing or empty. Creating a new one would hide the loss. */
export function checkNotLost({ path, documentsDir }: DatabaseLocation): void {
  const real = realDatabase(path);
  const stats = statIfExists(real);
  if (stats === undefined) {
    const remains = remainsOf({ path, documentsDir }, real);
    if (remains === undefined) {
      checkLink(path, real);
      return;
    }
    // Another process may just have created the database and its files.
    if (statIfExists(real) !== undefined) return;
    const choices = `Put the database back, run carrel restore <backup>, or move ${remains} away to start with an empty database.`;
    throw new CarrelError(
      'storage_lost',
      `The database is missing, but some of its files are still there: ${remains}. ${choices}`,
    );
  }
  if (!stats.isFile()) {
    const what = stats.isDirectory()
      ? 'a folder. Set it to a file in that folder'
      : 'not a regular file. Set it to one';
    throw new CarrelError('invalid_config', `The database path (DB_PATH) is ${what}.`);
  }
  if (stats.size > 0) return;
  const choices =
    'Put the database back. Or delete the file, then run carrel restore <backup> or start with an empty database.';
  throw new CarrelError('storage_lost', `The database file is empty: its content is lost. ${choices}`);
}

function statIfExists(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw isForbidden(cause) ? notReadable(cause) : unusable(cause);
  }
}

/** Throws if the path is a link into a missing folder, which usually means an unmounted disk. */
function checkLink(path: string, real: string): void {
  if (real === path) return;
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || identityOf(dirname(real)) !== undefined) return;
  const choices = 'Create the folder or mount its disk, or remove the link.';
  throw new CarrelError('invalid_config', `This is a link to ${real}, whose folder does not exist. ${choices}`);
}

/** Returns a file or folder that belonged to the missing database, if there is one. */
function remainsOf({ path, documentsDir }: DatabaseLocation, real: string): string | undefined {
  const suffix = ['-wal', '-shm', '-reserve'].find((each) => identityOf(real + each) !== undefined);
  if (suffix !== undefined) return basename(real) + suffix;
  if (documentsDir === undefined || mayBelongElsewhere(path, documentsDir)) return undefined;
  const isOriginal = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);
  return namesIn(documentsDir).some(isOriginal) ? `the folder ${basename(documentsDir)}` : undefined;
}

/** Returns true if the documents may belong to another database. A folder whose name starts with this path belongs to this one. */
function mayBelongElsewhere(path: string, documentsDir: string): boolean {
  if (documentsDir.startsWith(path)) return false;
  const folder = dirname(path);
  if (dirname(documentsDir) !== folder) return true;
  return namesIn(folder).some((name) => name !== basename(path) && extname(name) === extname(path));
}

/** Creates the database under a temporary name, then renames it. Of several concurrent starts, one wins. */
function makeDatabase(path: string): void {
  removeLeftovers(path);
  const fresh = `${temporaryPath(path)}.db`;
  try {
    closeSync(openSync(fresh, 'wx', 0o600));
    const database = new (loadSqlite().DatabaseSync)(fresh);
    try {
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA journal_mode = WAL`);
    } finally {
      database.close();
    }
    linkOrRename(fresh, path);
    syncFolderSync(dirname(path));
  } finally {
    for (const suffix of sqliteSuffixes) rmSync(`${fresh}${suffix}`, { force: true });
  }
}

function linkOrRename(fresh: string, path: string): void {
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    // This disk does not support hard links (exFAT, some network shares).
    if (identityOf(path) === undefined) renameSync(fresh, path);
  }
}

export interface FileWatch {
  /** Throws if a file was moved, deleted or replaced. `moment` says whether the check runs before a write or after its commit. */
  check(moment: 'before' | 'after'): void;
  /** True if only the log was deleted. Its content can then still be written to the database. */
  logIsGone(): boolean;
}

/**
 * Checks that a connection's files were not moved, deleted or replaced: SQLite would keep writing to them without an error.
 * While the database is open, only Carrel removes its log, so the log's identity must not change either.
 */
export function watchFile(path: string, expected: FileIdentity | undefined): FileWatch {
  // SQLite puts its log next to the target of a symbolic link.
  const real = realpathSync(path);
  const files = [path, `${real}-wal`, `${real}-shm`].map((file) => ({ file, identity: identityOf(file) }));
  checkIdentity(path, expected);
  return {
    check(moment) {
      for (const each of files) {
        const now = identityOf(each.file);
        // After the switch to WAL, the log is created with the first transaction.
        each.identity ??= now;
        if (now === undefined || now !== each.identity) throwLost(moment);
      }
    },
    // A new log means that another process uses the database. The old log would overwrite that process's work.
    logIsGone: () => identityOf(path) === files[0]?.identity && identityOf(`${real}-wal`) === undefined,
  };
}

export function checkIdentity(path: string, expected: FileIdentity | undefined): void {
  if (expected !== undefined && identityOf(path) !== expected) throwLost();
}

export function identityOf(path: string): FileIdentity | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

function throwLost(moment: 'before' | 'after' = 'before'): never {
  const happened = 'The database file or its log was moved, deleted or replaced while Carrel was running';
  const saved = moment === 'before' ? 'nothing was saved' : 'the last write may be lost';
  const choices = 'Put it back and restart Carrel, or stop it and run carrel restore <backup>.';
  throw new CarrelError('storage_lost', `${happened}; ${saved}. ${choices}`);
}

/**
 * Makes the files readable for this user only, because notes and memories are private. Call it only for Carrel's own files: the path
 * may name another file by mistake. SQLite gives its log the mode of the database file.
 */
export function makePrivate(path: string): void {
  for (const file of databaseFiles(path)) {
    try {
      const { mode } = statSync(file);
      if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
    } catch {
      // The file is missing, belongs to another user or is on a read-only disk. Opening it reports that.
    }
  }
}
