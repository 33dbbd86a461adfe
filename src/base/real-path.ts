import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Resolves symbolic links. If nothing is there, only makes the path absolute. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
