import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRunning } from './is-running.ts';
import { namesIn } from './make-folder.ts';

/** Returns a temporary path in the same folder, so that a rename can move the finished file to `path`. */
export function temporaryPath(path: string): string {
  return `${path}.${process.pid}.tmp`;
}

/** Removes the temporary files for `path` that killed processes left. */
export function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of namesIn(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const id = /^(\d{1,10})\.tmp/.exec(name.slice(prefix.length))?.[1];
    if (id !== undefined && !isRunning(Number(id))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  }
}

/** Removes all temporary files that killed processes left in a folder to which only Carrel writes. */
export function removeLeftoversIn(folder: string): void {
  for (const name of namesIn(folder)) {
    const id = /\.(\d{1,10})\.tmp$/.exec(name)?.[1];
    if (id !== undefined && !isRunning(Number(id))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
