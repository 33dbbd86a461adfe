import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from } from 'pg-copy-streams';
import type { WordIndex } from '../../dialect.ts';
import { measureContent } from '../../documents/originals.ts';
import type { PostgresConfig } from '../../postgres/connections/connections.ts';
import { withConnection } from '../../postgres/connections/servers.ts';
import { type Connection, noTimeouts } from '../../postgres/connections/transaction.ts';
import { checkContent } from '../../postgres/inspect.ts';
import { findSchemaVersion, lockKey, migrateOnce } from '../../postgres/migrate.ts';
import { writeParts } from '../../postgres/originals.ts';
import { withQuestionMarks } from '../../postgres/postgres-storage.ts';
import { tsvectorBytesMax, tsvectorOf } from '../../postgres/words/term-rows.ts';
import { labelMark } from '../../postgres/words/tsquery.ts';
import { numberOf, textOf, textsOf } from '../../rows.ts';
import { checkSchema, newestSchema } from '../../schema/schema-version.ts';
import { columnKinds, identityOf, type Table } from '../../schema/table.ts';
import { tables } from '../../schema/tables.ts';
import { wordIndexes } from '../../words/word-indexes.ts';
import { type ArchiveMember, damaged } from '../archive.ts';
import { checkEmpty, type TableInfo } from '../manifest.ts';
import { originalHash } from '../originals.ts';
import type { StoredRow } from '../rows.ts';
import type { BackupOptions, Fill, RestoreTarget } from '../transfer.ts';
import { copyTarget, readTableInfo, rowsOf } from './back-up.ts';
import { copyLine } from './copy-text.ts';

/** Min characters per batch of lines. */
const batchCharacters = 256 * 1024;

/** Restores in one transaction, so that other processes see either the old or the new content. */
export async function restorePostgres<T>(
  config: PostgresConfig,
  { force, onProgress }: BackupOptions,
  fill: Fill<T>,
): Promise<T> {
  return withConnection(config, async ({ client, statements }) => {
    await statements.query(`BEGIN; SET LOCAL lock_timeout = '10s'; ${noTimeouts}`);
    await statements.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await resetSchema(statements, force);
    const filled = await withoutIndexes(statements, () => fill(targetIn(client, statements)));
    onProgress('checking', 0, 0);
    if ((await checkContent(statements)).length > 0) throw damaged();
    await statements.query('COMMIT');
    // The planner has no statistics about the new rows yet. If the user may not run ANALYZE, autovacuum does it later.
    await statements.query('ANALYZE').catch(() => {});
    return filled;
  });
}

/** Replaces all tables with empty ones. */
async function resetSchema(statements: Connection, force: boolean): Promise<void> {
  const schema = checkSchema((await findSchemaVersion(statements)) ?? 0, newestSchema);
  if (schema > 0 && !force) checkEmpty(await readTableInfo(statements));
  await statements.query('DROP SCHEMA IF EXISTS carrel CASCADE');
  while ((await migrateOnce(statements)) < newestSchema);
  await statements.query('DELETE FROM carrel.settings');
}

/** Fills the tables without indexes, except those of constraints. Filling indexed tables would take several times as long. */
async function withoutIndexes<T>(statements: Connection, fill: () => Promise<T>): Promise<T> {
  const indexes = await statements.query(
    `SELECT c.oid::regclass::text AS name, pg_get_indexdef(c.oid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'carrel'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = c.oid)`,
  );
  for (const index of indexes) await statements.query(`DROP INDEX ${textOf(index, 'name')}`);
  const filled = await fill();
  // The server's default is meant for small machines, and would be slow here.
  await statements.query("SET LOCAL maintenance_work_mem = '256MB'");
  for (const index of indexes) await statements.query(textOf(index, 'definition'));
  return filled;
}

/** Creates the target of a restore. Triggers maintain the word statistics and the labels of vectors while rows are written. */
function targetIn(client: Client, statements: Connection): RestoreTarget {
  return {
    rows: (table) => rowsOf(client, table),
    write: (table, rows) => pipeline(linesOf(table, rows), client.query(from(`COPY ${copyTarget(table)} FROM STDIN`))),
    writeOriginal: (member) => writeOriginal(statements, member),
    async finish(info) {
      for (const index of wordIndexes) await rebuildIndex(statements, index);
      for (const table of tables) await continueNumbers(statements, table, info);
    },
  };
}

async function* linesOf(table: Table, rows: AsyncIterable<StoredRow>): AsyncGenerator<Buffer> {
  const kinds = columnKinds(table);
  let batch = '';
  for await (const row of rows) {
    batch += copyLine(row, kinds);
    if (batch.length < batchCharacters) continue;
    yield Buffer.from(batch);
    batch = '';
  }
  if (batch !== '') yield Buffer.from(batch);
}

/** Continues the numbering after the last number in the backup, so that numbers of removed rows are not reused. */
async function continueNumbers(statements: Connection, table: Table, info: readonly TableInfo[]): Promise<void> {
  const column = identityOf(table);
  const last = info.find(({ name }) => name === table.name)?.last ?? 0;
  if (column === undefined || last === 0) return;
  await statements.query(
    `SELECT setval('carrel.${table.name}_${column}_seq', greatest($1::bigint, max(${column}))) FROM carrel.${table.name}`,
    [last],
  );
}

/** Creates the tsvectors of an index. Those of very long texts are built here, truncated to PostgreSQL's limit. */
async function rebuildIndex(statements: Connection, { name, owner, labels: column }: WordIndex): Promise<void> {
  const terms = "concat_ws(' ', title, title_extra, heading, heading_extra, body, body_extra)";
  const fits = `octet_length(${terms}) <= ${tsvectorBytesMax}`;
  const labels =
    column === undefined
      ? "'{}'::text[]"
      : `ARRAY(SELECT '${labelMark}' || l FROM carrel.${owner} o, unnest(o.${column}) l WHERE o.key = t.key)`;
  await statements.query(
    `INSERT INTO carrel.${name}_words (key, words)
     SELECT key, array_to_tsvector(array_remove(string_to_array(${terms}, ' '), '') || ${labels})
     FROM carrel.${name}_terms t WHERE ${fits}`,
  );
  const tooLong = await statements.query(`SELECT key FROM carrel.${name}_terms WHERE NOT ${fits} ORDER BY key`);
  for (const row of tooLong) {
    const key = numberOf(row, 'key');
    const [long = {}] = await statements.query(
      `SELECT ${terms} AS terms, ${labels} AS labels FROM carrel.${name}_terms t WHERE key = $1`,
      [key],
    );
    await statements.query(`INSERT INTO carrel.${name}_words (key, words) VALUES ($1, $2::tsvector)`, [
      key,
      tsvectorOf([textOf(long, 'terms')], textsOf(long, 'labels')),
    ]);
  }
}

async function writeOriginal(statements: Connection, member: ArchiveMember): Promise<void> {
  const name = originalHash(member);
  const [row = {}] = await statements.query(
    'INSERT INTO carrel.kb_originals (hash, bytes) VALUES ($1, $2) RETURNING key',
    [name, member.size],
  );
  const { content, result } = measureContent(member.content, { bytesMax: member.size });
  await writeParts(withQuestionMarks(statements).query, textOf(row, 'key'), content);
  if (result().hash !== name) throw damaged();
}
