import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRunning } from './is-running.ts';
import { namesIn } from './make-folder.ts';

/** A temporary path on the same disk, so that renaming is enough. */
export function temporaryPath(path: string): string {
  return `${path}.${process.pid}.tmp`;
}

/** Removes leftovers of killed processes next to the path. */
export function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of namesIn(dirname(path))) {
    const [, id] = (name.startsWith(prefix) && /^(\d{1,10})\.tmp/.exec(name.slice(prefix.length))) || [];
    if (id !== undefined && !isRunning(Number(id))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  }
}

/** Removes all leftovers in a folder that only we write to. */
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
