import { join, resolve } from 'node:path';
import { CarrelError } from '../base/errors.ts';
import { createSqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../storage/storage.ts';
import type { StorageConfig } from '../storage/storage-slice.ts';

export async function openStorage({ backend, path, postgresUrl }: StorageConfig, dataDir: string): Promise<Storage> {
  if (backend === 'sqlite') {
    return await createSqliteStorage({ path: path === undefined ? join(dataDir, 'carrel.db') : resolve(path) });
  }
  if (postgresUrl === undefined) {
    throw new CarrelError(
      'invalid_config',
      'STORAGE_BACKEND is postgresql, which needs POSTGRESQL_CONNECTION_STRING (or DATABASE_URL). Set it, or use sqlite.',
    );
  }
  // Its driver is loaded only where it is used.
  const { createPostgresStorage } = await import('../storage/postgres/postgres-storage.ts');
  return await createPostgresStorage({ url: postgresUrl.reveal() });
}
