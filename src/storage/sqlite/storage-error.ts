import { diskError } from '../../base/durable-files.ts';
import { CarrelError } from '../../base/errors.ts';

/**
 * Translates SQLite's errors (https://sqlite.org/rescode.html) into messages that say what to do; the original text stays
 * inside.
 */
export function storageError(error: unknown): unknown {
  const result = resultCode(error);
  // Originals are files beside the database, moved within its transactions.
  if (result === undefined) return diskError(error);
  const translate = translations.get(result) ?? translations.get(result & 0xff);
  return translate?.(error) ?? error;
}

/** The lock of another connection, whichever kind. */
export function isBusy(error: unknown): boolean {
  const result = resultCode(error);
  return result !== undefined && ((result & 0xff) === 5 || (result & 0xff) === 6);
}

/** The disk has no room for a write. */
export function isFull(error: unknown): boolean {
  const result = resultCode(error);
  return result !== undefined && (result === diskShort || (result & 0xff) === 13);
}

/** The file, or its log, could not be opened. */
export function isUnopened(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === 14;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** SQLITE_IOERR_SHMSIZE: the shared index beside the log could not grow, which is how a full disk shows there. */
const diskShort = 4874;

type Translation = (cause: unknown) => CarrelError;

const full: Translation = (cause) =>
  new CarrelError('storage_full', 'The disk is full; nothing was saved. Free some space and try again.', { cause });

const readOnly: Translation = (cause) =>
  new CarrelError(
    'storage_read_only',
    'The database cannot be written. Check the permissions of its file and folder.',
    {
      cause,
    },
  );

const corrupt: Translation = (cause) =>
  // SQLite says so of a disk that fails to read, too, and that may pass.
  new CarrelError(
    'storage_corrupt',
    'The database file is damaged, cannot be read from its disk, or is not a database. Run carrel doctor; restore a backup if it finds damage.',
    { cause },
  );

const busy: Translation = (cause) =>
  new CarrelError('storage_busy', 'Another process is writing to the database. Try again.', {
    cause,
    retryAfterSeconds: 1,
  });

const unavailable: Translation = (cause) =>
  new CarrelError('unavailable', 'The database file cannot be reached. Check its path, folder and disk.', { cause });

const translations = new Map<number, Translation>([
  [3, readOnly],
  [5, busy],
  [6, busy],
  [8, readOnly],
  [10, unavailable],
  [11, corrupt],
  [13, full],
  [diskShort, full],
  [14, unavailable],
  [23, readOnly],
  [26, corrupt],
]);
