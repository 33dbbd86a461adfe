import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { findHome } from '../base/home-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Enables Node's compile cache for faster starts. V8 runs cached code unchecked, so the folder must belong to this
 * user and be writable by nobody else. Otherwise nothing is cached.
 */
export function useCompileCache(env: Environment): void {
  const folder = cacheFolder(env);
  if (folder === undefined) return;
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (isPrivate(folder)) enableCompileCache(folder);
  } catch {
    // There is no usable cache folder, so the program starts more slowly.
  }
}

function cacheFolder({ XDG_CACHE_HOME: cacheHome }: Environment): string | undefined {
  // Windows doesn't report who may write to a folder.
  if (process.platform === 'win32') return undefined;
  if (cacheHome?.startsWith('/')) return join(cacheHome, 'carrel');
  const home = findHome();
  return home && join(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'carrel');
}

/** True if the folder belongs to this user and nobody else may write to it. False for a symlink, whose target can change. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}
