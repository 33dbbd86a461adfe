import { basename, dirname, join, resolve } from 'node:path';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { realPath } from '../base/real-path.ts';
import type { Config } from '../config/load.ts';
import type { ServedData } from '../sharing/frames.ts';
import { openStorage, type StorageLocation } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { type StorageConfig, storageSlice } from '../storage/storage-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';

export async function openConfiguredStorage(config: StorageConfig, dataDir: string, logger: Logger): Promise<Storage> {
  const location = storageLocation(config, dataDir);
  return location.backend === 'sqlite' ? openFile(location, logger) : openStorage(location, { logger });
}

/** Returns the storage's location, without opening it. */
export function storageLocation(config: StorageConfig, dataDir: string): StorageLocation {
  const { backend, path, postgresUrl, postgresReadUrl } = config;
  const language = config.language === 'auto' ? undefined : config.language;
  if (backend === 'sqlite') {
    if (postgresReadUrl !== undefined) {
      throw new CarrelError(
        'invalid_config',
        'DATABASE_READ_URL needs PostgreSQL, but STORAGE_BACKEND is sqlite. Remove it, or set STORAGE_BACKEND to postgresql.',
      );
    }
    const file = path === undefined ? join(dataDir, defaultName) : resolve(path);
    return { backend, path: file, documentsDir: documentsOf(file, dataDir), language };
  }
  if (postgresUrl === undefined) {
    throw new CarrelError(
      'invalid_config',
      'STORAGE_BACKEND is postgresql, which needs POSTGRESQL_CONNECTION_STRING (or DATABASE_URL). Set one, or use sqlite.',
    );
  }
  return { backend: 'postgres', url: postgresUrl.reveal(), readUrl: postgresReadUrl?.reveal(), language };
}

const defaultName = 'carrel.db';

/** Returns the folder for original files. Each database needs its own, because it removes files that it doesn't reference. */
function documentsOf(file: string, dataDir: string): string {
  const isDefault = basename(file) === defaultName && realPath(dirname(file)) === realPath(dataDir);
  return isDefault ? join(dataDir, 'documents') : `${file}-documents`;
}

/** Opens a SQLite file. Adds its path to errors, which only the operator sees. Errors of later calls must not reveal it. */
async function openFile(location: Extract<StorageLocation, { backend: 'sqlite' }>, logger: Logger): Promise<Storage> {
  try {
    return await openStorage(location, { logger });
  } catch (error) {
    if (!isCarrelError(error)) throw error;
    throw new CarrelError(error.code, `${location.path}: ${error.message}`, { cause: error, data: error.data });
  }
}

/** Returns where the answers of `carrel serve` come from, for messages to users. */
export function servedData(config: Config): ServedData {
  const { engineUrl } = config.of(kbSlice);
  const location = storageLocation(config.of(storageSlice), config.dataDir);
  return {
    database: location.backend === 'sqlite' ? location.path : `PostgreSQL, ${withoutCredentials(location.url)}`,
    engine: engineUrl && withoutCredentials(engineUrl),
  };
}

/** Returns host and path of a URL, without user, password and options. */
export function withoutCredentials(address: string): string {
  try {
    const { host, pathname } = new URL(address);
    return `${host}${pathname}`.replace(/\/$/, '');
  } catch {
    return 'as configured';
  }
}
