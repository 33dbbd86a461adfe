import { readlinkSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** What SQLite writes under the name of a database, behind it: the database itself, its logs and their index. */
export const sqliteSuffixes = ['', '-wal', '-shm', '-journal'] as const;

/** Every file of a database, with our own. */
export function databaseFiles(path: string): string[] {
  return [...sqliteSuffixes, '-reserve'].map((suffix) => path + suffix);
}

/** Where a database is that the path may be a link to: SQLite's files are beside it, and a new one goes there. */
export function realDatabase(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return linkedTo(path);
  }
}

/** Nothing may be there yet. */
function linkedTo(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

/** One that was never served, so that nothing of ours is beside it. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of sqliteSuffixes) await rm(`${path}${suffix}`, { force: true });
}
