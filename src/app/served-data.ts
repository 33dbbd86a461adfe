import type { Config } from '../config/load.ts';
import type { ServedData } from '../sharing/frames.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { storageLocation } from './configured-storage.ts';

/** Describes where the answers of `carrel serve` come from, for messages to users. */
export function servedData(config: Config): ServedData {
  const { engineUrl } = config.of(kbSlice);
  const location = storageLocation(config.of(storageSlice), config.dataDir);
  return {
    database: location.backend === 'sqlite' ? location.path : `PostgreSQL, ${withoutCredentials(location.url)}`,
    engine: engineUrl && withoutCredentials(engineUrl),
  };
}

/** Returns only host and path of an address, such as the database name. Omits user, password and options. */
export function withoutCredentials(address: string): string {
  try {
    const { host, pathname } = new URL(address);
    return `${host}${pathname}`.replace(/\/$/, '');
  } catch {
    return 'as configured';
  }
}
