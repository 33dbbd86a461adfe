import type { Storage, StorageDeps } from './contracts/storage.ts';
import type { PostgresConfig } from './postgres/connections.ts';
import { createSqliteStorage, type SqliteStorageConfig } from './sqlite/sqlite-storage.ts';

export type StoragePlace =
  | ({ readonly backend: 'sqlite' } & SqliteStorageConfig)
  | ({ readonly backend: 'postgres' } & PostgresConfig);

export async function openStorage(config: StoragePlace, deps: StorageDeps = {}): Promise<Storage> {
  if (config.backend === 'sqlite') return createSqliteStorage(config, deps);
  // Most installations never need the driver.
  const { createPostgresStorage } = await import('./postgres/postgres-storage.ts');
  return createPostgresStorage(config, deps);
}
