import { parse } from 'node:path';
import type { Config } from '../config/load.ts';

/** A module that every thread loads as it starts, and looks for from the current folder: `--require ./trace.cjs`. */
const preloaded = /(?:^|\s)(?:-r|--require)(?:=|\s+)"?(?![/\\"]|[a-z]:)\S/i;

/**
 * A server outlives the folder that it was started in. Where that is removed no thread can start any more; and it must not
 * be kept from being removed or unmounted.
 */
export function leaveFolder({ dataDir, keepsFolder }: Pick<Config, 'dataDir' | 'keepsFolder'>): void {
  if (keepsFolder || preloaded.test(process.env['NODE_OPTIONS'] ?? '')) return;
  try {
    process.chdir(dataDir);
  } catch {
    // A role that keeps no data has no such folder.
    process.chdir(parse(dataDir).root);
  }
}
