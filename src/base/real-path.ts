import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Resolves links; returns the path itself if nothing is there. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
