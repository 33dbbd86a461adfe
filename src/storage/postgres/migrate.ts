import { numberOf } from '../rows.ts';
import { checkSchema } from '../schema-version.ts';
import type { Connections } from './connections.ts';
import { migrations } from './migrations.ts';
import type { Connection } from './transaction.ts';

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
  const once = (statements: Connection) => migrateOnce(statements, steps);
  while ((await connections.write(once, { isLong: true })) < steps.length);
}

/** The schema, if this program can work with it: its own, an earlier one, or a later one that only added to it. */
export async function usableSchema(statements: Connection, newest: number): Promise<number> {
  // As JSON: before schema 4 there was no such column.
  const [row] = await statements.query(
    `SELECT version, coalesce((to_jsonb(v) ->> 'usable_from')::integer, version) AS usable_from
     FROM carrel.schema_version v`,
  );
  if (row === undefined) return 0;
  const version = numberOf(row, 'version');
  return version > newest && numberOf(row, 'usable_from') <= newest ? version : checkSchema(version, newest);
}

export async function schemaVersion(statements: Connection): Promise<number> {
  const [row] = await statements.query('SELECT version FROM carrel.schema_version');
  return row === undefined ? 0 : numberOf(row, 'version');
}

/** "Carr", as in the header of our SQLite files. */
export const lockKey = 0x43617272;

async function migrateOnce(statements: Connection, steps: readonly string[]): Promise<number> {
  await waitForTurn(statements);
  const [known] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS known");
  if (known?.['known'] !== true) await statements.query(prepare);
  const version = await usableSchema(statements, steps.length);
  const step = steps[version];
  if (step === undefined) return version;
  if (version === 0) await statements.query('INSERT INTO carrel.schema_version VALUES (0)');
  await applyStep(statements, step, version + 1);
  return version + 1;
}

/** However long another one's step takes. Our own waits for the tables of others no longer than any write. */
async function waitForTurn(statements: Connection): Promise<void> {
  const [row] = await statements.query("SELECT current_setting('lock_timeout') AS usual");
  await statements.query('SET LOCAL lock_timeout = 0');
  await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
  await statements.query("SELECT set_config('lock_timeout', $1, true)", [row?.['usual']]);
}

/** The schema since which the database says who can use it. */
const saysWho = 4;

/**
 * Only programs of this schema can use it from now on, unless the step itself says otherwise: one that only adds, so that older
 * programs can go on, sets `usable_from` to the schema of the oldest that can.
 */
export async function applyStep(statements: Connection, step: string, schema: number): Promise<void> {
  const who = schema > saysWho ? ', usable_from = $1' : '';
  await statements.query(`UPDATE carrel.schema_version SET version = $1${who}`, [schema]);
  // Constant text of ours without values: the one place where several statements go in one message.
  await statements.query(step);
}
