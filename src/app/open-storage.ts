import { join, resolve } from 'node:path';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { Storage } from '../storage/contracts/storage.ts';
import { openStorage, type StoragePlace } from '../storage/open-storage.ts';
import type { StorageConfig } from '../storage/storage-slice.ts';

/** The storage that the settings ask for. */
export async function openConfiguredStorage(config: StorageConfig, dataDir: string): Promise<Storage> {
  const place = storagePlace(config, dataDir);
  return place.backend === 'sqlite' ? openFile(place) : openStorage(place);
}

/** Where it is, without opening it. */
export function storagePlace(config: StorageConfig, dataDir: string): StoragePlace {
  const { backend, path, postgresUrl } = config;
  const language = config.language === 'auto' ? undefined : config.language;
  if (backend === 'sqlite') {
    const file = path === undefined ? join(dataDir, 'carrel.db') : resolve(path);
    return { backend, path: file, documentsDir: join(dataDir, 'documents'), language };
  }
  if (postgresUrl === undefined) {
    throw new CarrelError(
      'invalid_config',
      'STORAGE_BACKEND is postgresql, which needs POSTGRESQL_CONNECTION_STRING (or DATABASE_URL). Set it, or use sqlite.',
    );
  }
  return { backend: 'postgres', url: postgresUrl.reveal(), language };
}

/** Whoever starts the program must learn which file is meant; later callers must not. */
async function openFile(place: Extract<StoragePlace, { backend: 'sqlite' }>): Promise<Storage> {
  try {
    return await openStorage(place);
  } catch (error) {
    if (!isCarrelError(error)) throw error;
    throw new CarrelError(error.code, `${place.path}: ${error.message}`, { cause: error, data: error.data });
  }
}
