import { existsSync } from 'node:fs';
import type { StoragePlace } from './open-storage.ts';
import { checkSchema } from './schema-version.ts';
import type { DatabasePlace } from './sqlite/database-file.ts';

export interface SchemaState {
  /** Undefined if there is no database yet. */
  readonly schema: number | undefined;
  /** The one that this version works with. */
  readonly newest: number;
}

/** Inspects a database without changing it. Opening it would create it, or migrate it to the newest schema. */
export async function inspectStorage(config: StoragePlace): Promise<SchemaState> {
  return config.backend === 'sqlite' ? inspectFile(config) : inspectServer(config);
}

async function inspectFile(place: DatabasePlace): Promise<SchemaState> {
  const [{ checkOwner, openDatabase }, { checkNotLost }, { schemaVersion }, { migrations }, { storageError }] =
    await Promise.all([
      import('./sqlite/database.ts'),
      import('./sqlite/database-file.ts'),
      import('./sqlite/migrate.ts'),
      import('./sqlite/migrations.ts'),
      import('./sqlite/storage-error.ts'),
    ]);
  checkNotLost(place);
  const { path } = place;
  if (!existsSync(path)) return { schema: undefined, newest: migrations.length };
  try {
    const database = openDatabase({ path, role: 'reader', busyTimeoutMs: 5000 });
    try {
      checkOwner(database);
      return { schema: checkSchema(schemaVersion(database), migrations.length), newest: migrations.length };
    } finally {
      database.close();
    }
  } catch (error) {
    throw storageError(error);
  }
}

async function inspectServer(config: StoragePlace & { backend: 'postgres' }): Promise<SchemaState> {
  const [{ connectAlone, statementsOf }, { usableSchema }, { migrations }, { storageError }] = await Promise.all([
    import('./postgres/back-up.ts'),
    import('./postgres/migrate.ts'),
    import('./postgres/migrations.ts'),
    import('./postgres/storage-error.ts'),
  ]);
  const client = await connectAlone(config);
  try {
    const statements = statementsOf(client);
    const [known] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS known");
    const schema = known?.['known'] === true ? await usableSchema(statements, migrations.length) : undefined;
    return { schema, newest: migrations.length };
  } catch (error) {
    throw storageError(error);
  } finally {
    await client.end();
  }
}
