import { existsSync } from 'node:fs';
import type { PostgresConfig } from './postgres/connections/connections.ts';
import type { Connection } from './postgres/connections/transaction.ts';
import { checkSchema, newestSchema } from './schema/schema-version.ts';
import type { DatabaseLocation } from './sqlite/database-file.ts';
import { createSqliteStorage, type SqliteStorageConfig } from './sqlite/sqlite-storage.ts';
import type { Storage, StorageDeps } from './storage.ts';

export type StorageLocation =
  | ({ readonly backend: 'sqlite' } & SqliteStorageConfig)
  | ({ readonly backend: 'postgres' } & PostgresConfig);

export async function openStorage(config: StorageLocation, deps: StorageDeps = {}): Promise<Storage> {
  if (config.backend === 'sqlite') return createSqliteStorage(config, deps);
  // Imported on demand: most installations never need the PostgreSQL driver.
  const { createPostgresStorage } = await import('./postgres/postgres-storage.ts');
  return createPostgresStorage(config, deps);
}

export interface SchemaState {
  /** The database's schema version. Undefined if there is no database yet. */
  readonly schema: number | undefined;
  /** The schema version that this program creates. */
  readonly newest: number;
}

/** Reads the schema version without changing anything. Opening the storage would create or migrate the database. */
export async function inspectStorage(config: StorageLocation): Promise<SchemaState> {
  return config.backend === 'sqlite' ? inspectFile(config) : inspectServer(config);
}

async function inspectFile(location: DatabaseLocation): Promise<SchemaState> {
  const [{ checkOwner, openDatabase }, { checkNotLost }, { schemaVersion }, { storageError }] = await Promise.all([
    import('./sqlite/database.ts'),
    import('./sqlite/database-file.ts'),
    import('./sqlite/migrate.ts'),
    import('./sqlite/storage-error.ts'),
  ]);
  checkNotLost(location);
  const { path } = location;
  if (!existsSync(path)) return { schema: undefined, newest: newestSchema };
  try {
    const database = openDatabase({ path, role: 'reader', busyTimeoutMs: 5000 });
    try {
      checkOwner(database);
      return { schema: checkSchema(schemaVersion(database), newestSchema), newest: newestSchema };
    } finally {
      database.close();
    }
  } catch (error) {
    throw storageError(error);
  }
}

/** Lists tables, triggers and other objects that are not in Carrel's schema, with type and name. Reads no data. */
export async function findForeignObjects(config: StorageLocation): Promise<string[]> {
  if (config.backend === 'postgres') {
    const { foreignObjects } = await import('./postgres/inspect.ts');
    return onServer(config, foreignObjects);
  }
  const [{ openDatabase }, { foreignObjects }] = await Promise.all([
    import('./sqlite/database.ts'),
    import('./sqlite/inspect.ts'),
  ]);
  const database = openDatabase({ path: config.path, role: 'reader', busyTimeoutMs: 5000 });
  try {
    return foreignObjects(database);
  } finally {
    database.close();
  }
}

async function inspectServer(config: StorageLocation & { backend: 'postgres' }): Promise<SchemaState> {
  const { findSchemaVersion } = await import('./postgres/migrate.ts');
  const schema = await onServer(config, findSchemaVersion);
  return { schema: schema === undefined ? undefined : checkSchema(schema, newestSchema), newest: newestSchema };
}

/** Connects to a server and calls `inspect`, without creating or migrating anything. */
async function onServer<Result>(
  config: StorageLocation & { backend: 'postgres' },
  inspect: (statements: Connection) => Promise<Result>,
): Promise<Result> {
  const { withConnection } = await import('./postgres/connections/servers.ts');
  return withConnection(config, ({ statements }) => inspect(statements));
}
