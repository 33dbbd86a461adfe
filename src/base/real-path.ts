import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Resolves symbolic links. If nothing exists at the path, only makes it absolute. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
