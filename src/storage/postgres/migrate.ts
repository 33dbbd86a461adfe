import { numberOf } from '../rows.ts';
import { postgresSchema } from '../schema/postgres-schema.ts';
import { checkSchema, nextStep, schemaAfter } from '../schema/schema-version.ts';
import type { Connections } from './connections/connections.ts';
import type { Connection } from './connections/transaction.ts';

/** One migration step per schema version, as many as on SQLite. Released steps never change. */
const migrations: readonly string[] = [postgresSchema];

/** Creates the PostgreSQL schema `carrel`. If it already exists, the user needs no right to create it. */
const prepare = `
  DO $$ BEGIN IF to_regnamespace('carrel') IS NULL THEN CREATE SCHEMA carrel; END IF; END $$;
  CREATE TABLE carrel.schema_version (version integer NOT NULL);
  INSERT INTO carrel.schema_version VALUES (0)`;

/** The SQL that creates all of Carrel's objects in the database, except vector indexes. */
export const postgresMigrations: readonly string[] = [prepare, ...migrations];

/** Migrates to the newest schema, with one transaction per step. Other servers wait for the lock meanwhile. */
export async function migrate(connections: Connections, steps: readonly string[] = migrations): Promise<void> {
  const once = async (statements: Connection) => {
    await waitForLock(statements);
    return migrateOnce(statements, steps);
  };
  while ((await connections.write(once, { isLong: true })) < schemaAfter(steps));
}

/** Performs one migration step in the caller's transaction. Returns the new schema version. */
export async function migrateOnce(statements: Connection, steps: readonly string[] = migrations): Promise<number> {
  const current = await findSchemaVersion(statements);
  if (current === undefined) await statements.query(prepare);
  const version = checkSchema(current ?? 0, schemaAfter(steps));
  const next = nextStep(steps, version);
  if (next === undefined) return version;
  await statements.query('UPDATE carrel.schema_version SET version = $1', [next.schema]);
  // A step has several statements in one text. PostgreSQL allows that only without bound values.
  await statements.query(next.step);
  return next.schema;
}

/** Returns the schema version. Undefined if Carrel has created nothing in this database yet. */
export async function findSchemaVersion(statements: Connection): Promise<number | undefined> {
  const [table] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS exists");
  return table?.['exists'] === true ? schemaVersion(statements) : undefined;
}

export async function schemaVersion(statements: Connection): Promise<number> {
  const [row] = await statements.query('SELECT version FROM carrel.schema_version');
  return row === undefined ? 0 : numberOf(row, 'version');
}

/** Key of the migration lock: the letters "Carr", as in the header of Carrel's SQLite files. */
export const lockKey = 0x43617272;

/** Waits for the migration lock without a timeout, because another server's step may take long. */
async function waitForLock(statements: Connection): Promise<void> {
  const [row] = await statements.query("SELECT current_setting('lock_timeout') AS previous");
  await statements.query('SET LOCAL lock_timeout = 0');
  await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
  await statements.query("SELECT set_config('lock_timeout', $1, true)", [row?.['previous']]);
}
