import { readlinkSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CarrelError, systemCode } from '../../base/errors.ts';

/** SQLite's file suffixes: the database itself, its logs and their index. */
export const sqliteSuffixes = ['', '-wal', '-shm', '-journal'] as const;

/** Every file of a database, including ours and a link to it. */
export function databaseFiles(path: string): string[] {
  return [path, ...[...sqliteSuffixes, '-reserve'].map((suffix) => realDatabase(path) + suffix)];
}

/** The database that the path may link to: SQLite's files are next to it, and a new one is created there. */
export function realDatabase(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (systemCode(cause) !== 'ELOOP') return linkedTo(path);
    const message = `The symbolic links at ${path} form a loop. Remove them, or choose another path (DB_PATH).`;
    throw new CarrelError('invalid_config', message, { cause });
  }
}

/** The target may not exist yet, after any number of links. */
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

/** For a database that was never served, so none of our files are next to it. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of sqliteSuffixes) await rm(`${path}${suffix}`, { force: true });
}
