import { numberOf } from '../rows.ts';
import { checkSchema } from '../schema-version.ts';
import type { Connection, Connections } from './connections.ts';
import { migrations } from './migrations.ts';

/**
 * Everything of ours is in a schema of this name, so that it cannot meet the tables of others. Where it was made for us, we
 * need no right to make one, which IF NOT EXISTS would ask for all the same.
 */
export const prepare = `
  DO $$ BEGIN IF to_regnamespace('carrel') IS NULL THEN CREATE SCHEMA carrel; END IF; END $$;
  CREATE TABLE IF NOT EXISTS carrel.schema_version (version integer NOT NULL)`;

/**
 * Brings the database to the newest schema, one transaction per step. Servers that start at the same time wait for the
 * one that holds the lock, and then find the step done; the lock goes with its transaction, even when its holder dies.
 */
export async function migrate(connections: Connections, steps: readonly string[] = migrations): Promise<void> {
  while ((await connections.write((statements) => migrateOnce(statements, steps))) < steps.length);
}

export async function schemaVersion(statements: Connection): Promise<number> {
  const [row] = await statements.query('SELECT version FROM carrel.schema_version');
  return row === undefined ? 0 : numberOf(row, 'version');
}

/** "Carr", as in the header of our SQLite files. */
export const lockKey = 0x43617272;

async function migrateOnce(statements: Connection, steps: readonly string[]): Promise<number> {
  await statements.query('SET LOCAL statement_timeout = 0');
  await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
  const [known] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS known");
  if (known?.['known'] !== true) await statements.query(prepare);
  const version = checkSchema(await schemaVersion(statements), steps.length);
  const step = steps[version];
  if (step === undefined) return version;
  // Constant text of ours without values: the one place where several statements go in one message.
  await statements.query(step);
  await statements.query(
    version === 0 ? 'INSERT INTO carrel.schema_version VALUES ($1)' : 'UPDATE carrel.schema_version SET version = $1',
    [version + 1],
  );
  return version + 1;
}
