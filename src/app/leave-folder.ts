import { parse, resolve } from 'node:path';
import type { Config } from '../config/load.ts';

/** A module that every thread loads as it starts, and looks for from the current folder: `--require ./trace.cjs`. */
const preloaded = /(?:^|\s)(?:-r|--require)(?:=|\s+)"?(?![/\\"]|[a-z]:)\S/i;

/**
 * A server outlives the folder that it was started in. Where that is removed no thread can start any more; and it must not
 * be kept from being removed or unmounted.
 */
export function leaveFolder({ dataDir }: Pick<Config, 'dataDir'>): void {
  const { NODE_OPTIONS: options = '', PGPASSFILE: passwords } = process.env;
  if (preloaded.test(options)) return;
  // Read again for each connection.
  if (passwords) process.env['PGPASSFILE'] = resolve(passwords);
  try {
    process.chdir(dataDir);
  } catch {
    // A role that keeps no data has no such folder.
    process.chdir(parse(dataDir).root);
  }
}
