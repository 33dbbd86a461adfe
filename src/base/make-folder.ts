import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder, and any missing parents, for the current user only. Doesn't use Node's recursive mkdir, which hangs if the
 * system answers ENOENT, as it does in /proc.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have just created it.
    if (!isFolder(path)) throw error;
  }
}

/** Returns the names in a folder; none if the folder is missing or cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
