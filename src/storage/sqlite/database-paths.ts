import { readlinkSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CarrelError, systemCode } from '../../base/errors.ts';

/** Suffixes of SQLite's files: the database itself, its logs, and the index of the write-ahead log. */
export const sqliteSuffixes = ['', '-wal', '-shm', '-journal'] as const;

/** Returns every file of a database, including Carrel's disk reserve and, if the path is a link, the link. */
export function databaseFiles(path: string): string[] {
  return [path, ...[...sqliteSuffixes, '-reserve'].map((suffix) => realDatabase(path) + suffix)];
}

/** Returns the path with all links resolved. SQLite's other files are next to it. */
export function realDatabase(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (systemCode(cause) !== 'ELOOP') return linkedTo(path);
    const message = `The symbolic links at ${path} form a loop. Remove them, or choose another path (DB_PATH).`;
    throw new CarrelError('invalid_config', message, { cause });
  }
}

/** Follows links one by one, because the last target may not exist yet. */
function linkedTo(path: string): string {
  let target = path;
  try {
    const folder = realpathSync(dirname(path));
    target = join(folder, basename(path));
    target = resolve(folder, readlinkSync(path));
  } catch {
    return target;
  }
  return realDatabase(target);
}

/** Removes a database that no server has used, so that it has no disk reserve. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of sqliteSuffixes) await rm(`${path}${suffix}`, { force: true });
}
