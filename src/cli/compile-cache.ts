import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { findHome } from '../base/home-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Lets Node keep compiled code in the user's own cache folder, for faster starts. V8 runs that code as it is, so the folder
 * must belong to this user and be writable by nobody else. Otherwise, or where the user has no folder for caches, nothing is kept.
 */
export function keepCompiledCode(env: Environment): void {
  const folder = cacheFolder(env);
  if (folder === undefined) return;
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (isOwn(folder)) enableCompileCache(folder);
  } catch {
    // A user without a folder for caches, or one that can't be written, waits longer for a start.
  }
}

function cacheFolder({ XDG_CACHE_HOME: caches }: Environment): string | undefined {
  // Windows does not say who may write to a folder.
  if (process.platform === 'win32') return undefined;
  if (caches?.startsWith('/')) return join(caches, 'carrel');
  const home = findHome();
  return home && join(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'carrel');
}

/** Not where a link leads: its target can change. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}
