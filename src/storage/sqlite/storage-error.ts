import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { diskError } from '../../base/durable-files.ts';
import { CarrelError, type ErrorCode, systemCode } from '../../base/errors.ts';
import { databaseFiles, sqliteSuffixes } from './database-paths.ts';

/** Translates SQLite's errors (https://sqlite.org/rescode.html) into messages. The original error is the `cause`. */
export function storageError(error: unknown): unknown {
  const result = resultCode(error);
  // Not an SQLite error. It may come from moving an uploaded file, which happens inside a transaction.
  if (result === undefined) return diskError(error);
  const translation = translations[result] ?? translations[result & 0xff];
  return translation === undefined
    ? error
    : new CarrelError(translation.code, translation.message, { cause: error, ...translation.options });
}

/** Returns true if another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  const result = resultCode(error);
  return result !== undefined && [codes.busy, codes.locked].includes(result & 0xff);
}

/** Returns true if the disk is full. */
export function isFull(error: unknown): boolean {
  const result = resultCode(error);
  return result !== undefined && (result === shmSizeError || (result & 0xff) === codes.full);
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

const codes = { busy: 5, locked: 6, full: 13, cannotOpen: 14 };

/** SQLITE_IOERR_SHMSIZE: the shared-memory index of the WAL could not grow, because the disk is full. */
const shmSizeError = 4874;

interface Translation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly options?: { readonly retryAfterSeconds: number };
}

const full: Translation = {
  code: 'storage_full',
  message: 'The disk is full; nothing was saved. Free some space and try again.',
};

const readOnly: Translation = {
  code: 'storage_read_only',
  message: 'The database cannot be written. Check the permissions of its file and folder.',
};

/** SQLite also reports a failing disk read as damage, which may be temporary. */
const corrupt: Translation = {
  code: 'storage_corrupt',
  message:
    'The database file is damaged, cannot be read from its disk, or is not a database. Run carrel doctor; restore a backup if it finds damage.',
};

const busy: Translation = {
  code: 'storage_busy',
  message: 'Another process is writing to the database. Try again.',
  options: { retryAfterSeconds: 1 },
};

const unavailable: Translation = {
  code: 'unavailable',
  message: 'The database file cannot be reached. Check its path, folder and disk.',
};

const translations: Readonly<Record<number, Translation>> = {
  3: readOnly,
  [codes.busy]: busy,
  [codes.locked]: busy,
  8: readOnly,
  10: unavailable,
  11: corrupt,
  [codes.full]: full,
  [shmSizeError]: full,
  [codes.cannotOpen]: unavailable,
  23: readOnly,
  26: corrupt,
};

/**
 * Finds out why SQLite could not open its files, which its error does not say. Does not open the files themselves, because
 * closing one would release all of the process's locks on it.
 */
export function openFailure(path: string, error: unknown): unknown {
  const isUnopened = ((resultCode(error) ?? 0) & 0xff) === codes.cannotOpen;
  if (!isUnopened) return error;
  try {
    openSomeFiles();
    for (const file of databaseFiles(path)) if (existsSync(file)) accessSync(file, constants.R_OK);
    return error;
  } catch (cause) {
    if (isOutOfFiles(cause)) return tooManyFiles(cause);
    return isForbidden(cause) ? notReadable(cause) : error;
  }
}

export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(systemCode(error) ?? '');
}

/** Opens as many files as SQLite needs. Throws if the process has reached its limit of open files. */
function openSomeFiles(): void {
  const opened: number[] = [];
  try {
    for (const _ of sqliteSuffixes) opened.push(openSync(process.execPath, 'r'));
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Returns true if the process has too many open files. Node reports that differently if it cannot start a thread. */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /\bE[MN]FILE\b/.test(error.message);
}

export function tooManyFiles(cause: unknown): CarrelError {
  const message =
    'The process has too many open files to open the database. Raise the limit (ulimit -n), then try again.';
  return new CarrelError('unavailable', message, { cause, retryAfterSeconds: 1 });
}

export function notReadable(cause: unknown): CarrelError {
  const message =
    'The current user may not read the database. Run Carrel as the owner of its files, or change their owner.';
  return new CarrelError('invalid_config', message, { cause });
}
