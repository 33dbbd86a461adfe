import { storagePlace } from '../../app/open-storage.ts';
import type { Config } from '../../config/load.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';

/** Where the answer comes from, on stderr: an empty one from another folder than one thinks of says nothing. */
export function tellPlace(config: Config, toolset: string): void {
  for (const warning of config.warnings) process.stderr.write(`carrel: ${warning}\n`);
  process.stderr.write(`carrel: from ${placeOf(config, toolset)}\n`);
}

function placeOf(config: Config, toolset: string): string {
  const { engineUrl } = config.of(kbSlice);
  if (toolset === 'kb' && engineUrl !== undefined) return `the engine at ${withoutCredentials(engineUrl)}`;
  const place = storagePlace(config.of(storageSlice), config.dataDir);
  const database = place.backend === 'sqlite' ? place.path : `PostgreSQL, ${withoutCredentials(place.url)}`;
  const isAsked = toolset === 'find' && engineUrl !== undefined;
  return isAsked ? `${database} and the engine at ${withoutCredentials(engineUrl)}` : database;
}

/** Host and name of the database; users, passwords and options stay out. */
export function withoutCredentials(address: string): string {
  try {
    const { host, pathname } = new URL(address);
    return `${host}${pathname}`.replace(/\/$/, '');
  } catch {
    return 'as configured';
  }
}
