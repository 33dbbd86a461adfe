import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { CarrelError, systemCode } from '../../base/errors.ts';
import { databaseFiles, sqliteSuffixes } from './database-files.ts';
import { isUnopened } from './storage-error.ts';

/**
 * SQLite does not say why it cannot open its files; the system does when it is asked. They are not opened for that: whoever
 * closes a file takes from the process every lock on it, those of its other connections too.
 */
export function openFailure(path: string, error: unknown): unknown {
  if (!isUnopened(error)) return error;
  try {
    openAsMany();
    for (const file of databaseFiles(path)) if (existsSync(file)) accessSync(file, constants.R_OK);
    return error;
  } catch (cause) {
    if (isOutOfFiles(cause)) return tooManyFiles(cause);
    return isForbidden(cause) ? notOurs(cause) : error;
  }
}

export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(systemCode(error) ?? '');
}

/** As many as SQLite has of a database. */
function openAsMany(): void {
  const opened: number[] = [];
  try {
    for (const _ of sqliteSuffixes) opened.push(openSync(process.execPath, 'r'));
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Of the system, or of Node when it cannot start a thread. */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /\bE[MN]FILE\b/.test(error.message);
}

export function tooManyFiles(cause: unknown): CarrelError {
  const message = 'Too many files are open here to use the database. Raise the limit (ulimit -n), then try again.';
  return new CarrelError('unavailable', message, { cause, retryAfterSeconds: 1 });
}

export function notOurs(cause: unknown): CarrelError {
  const message = 'The database may not be read by this user. Run Carrel as its owner, or give its files to this user.';
  return new CarrelError('invalid_config', message, { cause });
}
