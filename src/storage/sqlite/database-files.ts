import { rm } from 'node:fs/promises';

/** What SQLite writes under the name of a database, behind it: the database itself, its logs and their index. */
export const sqliteSuffixes = ['', '-wal', '-shm', '-journal'] as const;

/** Every file of a database, with our own. */
export function databaseFiles(path: string): string[] {
  return [...sqliteSuffixes, '-reserve'].map((suffix) => path + suffix);
}

/** One that was never served, so that nothing of ours is beside it. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of sqliteSuffixes) await rm(`${path}${suffix}`, { force: true });
}
