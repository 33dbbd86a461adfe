import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where a path leads behind links; the path itself where nothing is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
