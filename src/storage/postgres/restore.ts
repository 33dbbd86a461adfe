import type { Client } from 'pg';
import { type ArchiveMember, damaged } from '../backup/archive.ts';
import type { BackupOptions } from '../backup/backup-source.ts';
import { checkBackupSchema, checkEmpty, type Manifest, type TableFacts } from '../backup/manifest.ts';
import { vectorCorpora } from '../contracts/vectors.ts';
import { checkSchema } from '../schema-version.ts';
import { columnList, connectAlone, statementsOf, unbounded } from './back-up.ts';
import type { PostgresConfig } from './connections.ts';
import { type CopyIn, copyIn } from './copy.ts';
import { labelRest } from './label-words.ts';
import { applyStep, lockKey, prepare, schemaVersion } from './migrate.ts';
import { labelledSince, migrations } from './migrations.ts';
import { storageError } from './storage-error.ts';
import { readTables } from './tables.ts';
import type { Connection } from './transaction.ts';
import { checkContent } from './upkeep.ts';
import { codeTables } from './vector-codes.ts';
import { withoutIndexes } from './without-indexes.ts';

export async function restorePostgres(
  config: PostgresConfig,
  manifest: Manifest,
  members: AsyncIterable<ArchiveMember>,
  options: BackupOptions,
): Promise<void> {
  checkBackupSchema(manifest, migrations.length);
  // A program of an earlier version does not know all of those that are made again, and backs them up.
  const tables = manifest.tables.filter(({ name }) => !codeTables.test(name));
  await replaceContent(config, manifest.schema, options, async (client, statements) => {
    await checkShape(statements, tables);
    await load(client, tables, members);
    await setSequences(statements, tables);
  });
}

/**
 * In one transaction: whoever reads meanwhile sees the old content, and afterwards the new. `fill` finds the tables of that
 * schema, empty but for what they begin with.
 */
export async function replaceContent(
  config: PostgresConfig,
  schema: number,
  { force, onProgress }: BackupOptions,
  fill: (client: Client, statements: Connection) => Promise<void>,
): Promise<void> {
  const client = await connectAlone(config);
  try {
    const statements = statementsOf(client);
    await statements.query(`BEGIN; SET LOCAL lock_timeout = '10s'; ${unbounded}`);
    await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await makeRoom(statements, force);
    await applySteps(statements, 0, schema);
    await withoutIndexes(statements, async () => {
      await fill(client, statements);
      // The backup may be of a database whose words were just getting their labels.
      if (schema >= labelledSince) await statements.query(labelRest);
    });
    onProgress('checking', 0, 0);
    await applySteps(statements, schema, migrations.length);
    // Whoever embedded something when the backup was made does so no more.
    for (const corpus of vectorCorpora) {
      await statements.query(
        `UPDATE carrel.${corpus}_unembedded SET claimed_by = NULL, claimed_until = NULL WHERE claimed_by IS NOT NULL`,
      );
    }
    if ((await checkContent(statements)).length > 0) throw damaged();
    await statements.query('COMMIT');
    // The planner knows nothing of the new rows yet. Without rights to it, the server gets there by itself.
    await statements.query('ANALYZE').catch(() => {});
  } catch (error) {
    throw storageError(error);
  } finally {
    // An open transaction ends with its connection.
    await client.end();
  }
}

async function makeRoom(statements: Connection, force: boolean): Promise<void> {
  const [known] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS known");
  if (known?.['known'] === true) {
    checkSchema(await schemaVersion(statements), migrations.length);
    if (!force) checkEmpty(await readTables(statements));
  }
  await statements.query('DROP SCHEMA IF EXISTS carrel CASCADE');
  await statements.query(prepare);
  await statements.query('INSERT INTO carrel.schema_version VALUES (0)');
}

async function applySteps(statements: Connection, from: number, to: number): Promise<void> {
  for (const [index, step] of migrations.slice(from, to).entries()) {
    await applyStep(statements, step, from + index + 1);
  }
}

/** The same tables with the same columns, and none besides. */
async function checkShape(statements: Connection, tables: readonly TableFacts[]): Promise<void> {
  const shape = (facts: readonly TableFacts[]) =>
    JSON.stringify(facts.map(({ name, columns = [] }) => [name, ...[...columns].sort()].join()).sort());
  if (shape(await readTables(statements)) !== shape(tables)) throw damaged();
}

async function load(
  client: Client,
  tables: readonly TableFacts[],
  members: AsyncIterable<ArchiveMember>,
): Promise<void> {
  const all = tables.map(({ name }) => `carrel.${name}`);
  await client.query(`TRUNCATE ${all.join(', ')}`);
  // What triggers would compute is in the backup.
  for (const table of all) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  let current: { table: TableFacts; copy: CopyIn } | undefined;
  const finish = async () => {
    if (current !== undefined && (await current.copy.end()) !== current.table.rows) throw damaged();
    current = undefined;
  };
  const loaded = new Set<string>();
  for await (const { name, content } of members) {
    const tableName = /^tables\/([a-z0-9_]+)\/\d{6,}$/.exec(name)?.[1];
    if (codeTables.test(tableName ?? '')) continue;
    if (current?.table.name !== tableName) {
      await finish();
      const table = tables.find((each) => each.name === tableName);
      if (table === undefined || loaded.has(table.name)) throw damaged();
      loaded.add(table.name);
      current = { table, copy: await copyIn(client, `COPY carrel.${table.name} (${columnList(table)}) FROM STDIN`) };
    }
    for await (const chunk of content) await current?.copy.write(chunk);
  }
  await finish();
  if (tables.some(({ name, rows }) => rows > 0 && !loaded.has(name))) throw damaged();
  for (const table of all) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}

export async function setSequences(
  statements: Connection,
  tables: readonly Pick<TableFacts, 'name' | 'sequences'>[],
): Promise<void> {
  for (const { name, sequences = {} } of tables) {
    for (const [column, last] of Object.entries(sequences)) {
      if (last === 0) continue;
      await statements.query('SELECT setval(pg_get_serial_sequence($1, $2), $3)', [`carrel.${name}`, column, last]);
    }
  }
}
