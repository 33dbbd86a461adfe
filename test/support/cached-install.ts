import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Returns a folder for downloads that later runs reuse, in `CARREL_TEST_CACHE` or the user's cache. For root it is outside the
 * home folder, which the user that runs PostgreSQL can't read.
 */
export function cacheFolder(name: string): string {
  const userCache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const defaultFolder = process.getuid?.() === 0 ? '/var/cache/carrel-test' : join(userCache, 'carrel-test');
  return join(process.env['CARREL_TEST_CACHE'] || defaultFolder, name);
}

/** Returns the reason if an attempt failed in the last five minutes. Otherwise every test file would wait for a missing network. */
export function recentObstacle(root: string): string | undefined {
  const age = Date.now() - (statSync(obstacleFile(root), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return age < 5 * 60_000 ? readFileSync(obstacleFile(root), 'utf8') : undefined;
}

export function rememberObstacle(root: string, reason: string): string {
  writeFileSync(obstacleFile(root), reason);
  return reason;
}

function obstacleFile(root: string): string {
  return `${root}.obstacle`;
}

/**
 * Runs `work` under a lock, because several test processes may start the same installation. The lock is SQLite's, which ends
 * with the process that holds it, even after a crash.
 */
export function locked<T>(file: string, work: () => T): T {
  const lock = new DatabaseSync(file, { timeout: 10 * 60_000 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return work();
  } finally {
    lock.close();
  }
}
