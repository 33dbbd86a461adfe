import { parse, resolve } from 'node:path';
import type { Config } from '../config/load.ts';

/** A preloaded module with a relative path, resolved by every new thread: `--require ./trace.cjs`. */
const preloaded = /(?:^|\s)(?:-r|--require)(?:=|\s+)"?(?![/\\"]|[a-z]:)\S/i;

/** Leaves the start folder, so that it can be removed or unmounted. In a removed folder, no thread could start. */
export function leaveFolder({ dataDir }: Pick<Config, 'dataDir'>): void {
  const { NODE_OPTIONS: options = '', PGPASSFILE: passwords } = process.env;
  if (preloaded.test(options)) return;
  // Read for each new connection.
  if (passwords) process.env['PGPASSFILE'] = resolve(passwords);
  try {
    process.chdir(dataDir);
  } catch {
    // A role without data has no such folder.
    process.chdir(parse(dataDir).root);
  }
}
