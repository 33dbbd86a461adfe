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
import { databaseFiles, realDatabase, sqliteSuffixes } from './database-files.ts';
import { applicationId, loadSqlite } from './sqlite-module.ts';
import { isForbidden, notOurs, storageError } from './storage-error.ts';

/** Device and inode: detects a replaced file. */
export type FileIdentity = string;

export interface DatabaseLocation {
  readonly path: string;
  /** The folder of documents' bytes. */
  readonly documentsDir?: string | undefined;
}

/**
 * Creates the database file if there was none, and returns its identity. Only a complete database ever gets the name, so an
 * empty file has lost its content.
 */
export function ensureDatabaseFile(place: DatabaseLocation): FileIdentity {
  checkNotLost(place);
  const known = identityOf(place.path);
  if (known !== undefined) return known;
  try {
    const real = realDatabase(place.path);
    makeFolder(dirname(real));
    makeDatabase(real);
  } catch (cause) {
    const explained = storageError(cause);
    if (isCarrelError(explained) && explained.code === 'storage_full') throw explained;
    throw unusable(cause);
  }
  return identityOf(place.path) ?? lost();
}

function unusable(cause: unknown): CarrelError {
  const message = 'The database cannot be created there. Check the path (DB_PATH, --data-dir) and its permissions.';
  return new CarrelError('invalid_config', message, { cause });
}

/** Rejects a path whose database is gone, before an empty one hides it. */
export function checkNotLost({ path, documentsDir }: DatabaseLocation): void {
  const real = realDatabase(path);
  const found = lookAt(real);
  if (found === undefined) {
    const left = leftBehind({ path, documentsDir }, real);
    if (left === undefined) {
      checkLink(path, real);
      return;
    }
    const choices = `Put the database back, run carrel restore <backup>, or move ${left} away to start afresh.`;
    throw new CarrelError(
      'storage_lost',
      `The database is missing, but other files of it are still there: ${left}. ${choices}`,
    );
  }
  if (!found.isFile()) {
    const what = found.isDirectory()
      ? 'a folder. Set it to a file in that folder'
      : 'not a regular file. Set it to one';
    throw new CarrelError('invalid_config', `The database path (DB_PATH) is ${what}.`);
  }
  if (found.size > 0) return;
  const choices = 'Put the database back, or delete the file and run carrel restore <backup> or start afresh.';
  throw new CarrelError('storage_lost', `The database file is empty: its content is lost. ${choices}`);
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw isForbidden(cause) ? notOurs(cause) : unusable(cause);
  }
}

/** A link into a missing folder usually means an unmounted disk. */
function checkLink(path: string, real: string): void {
  if (real === path) return;
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || identityOf(dirname(real)) !== undefined) return;
  const choices = 'Create the folder or mount its disk, or remove the link.';
  throw new CarrelError('invalid_config', `This is a link to ${real}, whose folder does not exist. ${choices}`);
}

/** The first leftover that only a database creates. */
function leftBehind({ path, documentsDir }: DatabaseLocation, real: string): string | undefined {
  const beside = ['-wal', '-shm', '-reserve'].find((suffix) => identityOf(real + suffix) !== undefined);
  if (beside !== undefined) return basename(real) + beside;
  if (documentsDir === undefined || mayBeOfAnother(path, documentsDir)) return undefined;
  const isOriginal = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);
  return namesIn(documentsDir).some(isOriginal) ? `the folder ${basename(documentsDir)}` : undefined;
}

/** A folder named after the database belongs to it. Any other may belong to another database. */
function mayBeOfAnother(path: string, documentsDir: string): boolean {
  if (documentsDir.startsWith(path)) return false;
  const folder = dirname(path);
  if (dirname(documentsDir) !== folder) return true;
  return namesIn(folder).some((name) => name !== basename(path) && extname(name) === extname(path));
}

/** Creates it under a temporary name first: one of several concurrent starts wins, and a kill leaves no partial file. */
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
    giveName(fresh, path);
    syncFolderSync(dirname(path));
  } finally {
    for (const suffix of sqliteSuffixes) rmSync(`${fresh}${suffix}`, { force: true });
  }
}

function giveName(fresh: string, path: string): void {
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    // No hard links on this disk (exFAT, some network shares).
    if (identityOf(path) === undefined) renameSync(fresh, path);
  }
}

export interface FileWatch {
  /** Throws if the files are no longer under their names, before a write or after its commit. */
  check(moment: 'before' | 'after'): void;
  /** True if only the log was deleted. Its content can still be moved into the database. */
  logIsGone(): boolean;
}

/**
 * Checks that a connection's files are still under their names. SQLite keeps writing to moved or deleted files without an
 * error. Only we remove the log of an open database, so its identity is fixed too.
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
        // A database that was just switched to WAL gets its log with the first transaction.
        each.identity ??= now;
        if (now === undefined || now !== each.identity) lost(moment);
      }
    },
    // If there is a new log, another process uses the database, and the old log would overwrite its work.
    logIsGone: () => identityOf(path) === files[0]?.identity && identityOf(`${real}-wal`) === undefined,
  };
}

export function checkIdentity(path: string, expected: FileIdentity | undefined): void {
  if (expected !== undefined && identityOf(path) !== expected) lost();
}

export function identityOf(path: string): FileIdentity | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function lost(moment: 'before' | 'after' = 'before'): never {
  const happened = 'The database file or its log was moved, deleted or replaced while Carrel was running';
  const saved = moment === 'before' ? 'nothing was saved' : 'this may be lost';
  const choices = 'Put it back and restart Carrel, or stop it and run carrel restore <backup>.';
  throw new CarrelError('storage_lost', `${happened}; ${saved}. ${choices}`);
}

/**
 * Makes the files private, because notes and memories are. Call it only for a file known to be ours: a path may name another
 * file by mistake. SQLite gives the log and its index the mode of the database file.
 */
export function closeToOthers(path: string): void {
  for (const file of databaseFiles(path)) {
    try {
      const { mode } = statSync(file);
      if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
    } catch {
      // No such file, another user's, or a read-only disk: opening it will report that.
    }
  }
}
