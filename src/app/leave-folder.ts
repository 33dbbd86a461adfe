import { parse, resolve } from 'node:path';
import type { Config } from '../config/load.ts';

/** Matches a preloaded relative path such as `--require ./trace.cjs`, which every new thread resolves again. */
const preloaded = /(?:^|\s)(?:-r|--require)(?:=|\s+)"?(?![/\\"]|[a-z]:)\S/i;

/** Leaves the start folder, because someone may remove or unmount it. In a removed folder, no thread can start. */
export function leaveFolder({ dataDir }: Pick<Config, 'dataDir'>): void {
  const { NODE_OPTIONS: options = '', PGPASSFILE: passwords } = process.env;
  if (preloaded.test(options)) return;
  // The PostgreSQL client reads this file for each new connection, so the path must be absolute.
  if (passwords) process.env['PGPASSFILE'] = resolve(passwords);
  try {
    process.chdir(dataDir);
  } catch {
    // A role without data has no such folder.
    process.chdir(parse(dataDir).root);
  }
}
