import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { writeNewFile } from '../../base/durable-files.ts';
import { inPieces } from '../../base/in-pieces.ts';
import { type ArchiveMember, damaged } from '../backup/archive.ts';
import type { BackupOptions } from '../backup/backup-source.ts';
import { checkBackupSchema, type Manifest } from '../backup/manifest.ts';
import { isOriginal, originalHash } from '../backup/originals.ts';
import { columnList } from '../postgres/back-up.ts';
import type { PostgresConfig } from '../postgres/connections.ts';
import { copyIn, copyOut } from '../postgres/copy.ts';
import { migrations } from '../postgres/migrations.ts';
import { withQuestionMarks } from '../postgres/postgres-storage.ts';
import { replaceContent, setSequences } from '../postgres/restore.ts';
import { readTables } from '../postgres/tables.ts';
import { vectorBytesMax, vectorsOf } from '../postgres/term-rows.ts';
import type { Connection } from '../postgres/transaction.ts';
import { insertVectors } from '../postgres/word-table.ts';
import { numberOf, textOf } from '../rows.ts';
import { databaseMember } from '../sqlite/back-up.ts';
import { removeDatabase } from '../sqlite/database-files.ts';
import { examine } from '../sqlite/restore.ts';
import { loadSqlite } from '../sqlite/sqlite-module.ts';
import { wordIndexes } from '../stores/words/word-indexes.ts';
import { copyLine, copyRows } from './copy-text.ts';
import { type MoveReport, verified } from './move-report.ts';
import { isMadeAnew, type MoveTable } from './move-table.ts';
import { createRowDigest, digested, type RowDigest } from './row-digest.ts';
import { moveTables, sqliteRows } from './sqlite-rows.ts';

/** Lines are sent when this much has gathered. */
const sentAtOnce = 256 * 1024;
/** As the parts of originals that come in by other ways. */
const partBytes = 1024 * 1024;

/** Fills a PostgreSQL database with a backup of a SQLite one. `copy` is where the SQLite file is kept meanwhile. */
export async function sqliteToPostgres(
  config: PostgresConfig,
  copy: string,
  manifest: Manifest,
  members: AsyncIterable<ArchiveMember>,
  options: BackupOptions,
): Promise<MoveReport> {
  checkBackupSchema(manifest, migrations.length);
  const rest = members[Symbol.asyncIterator]();
  const report: { tables: MoveReport['tables']; originals: number } = { tables: [], originals: 0 };
  try {
    const first = await rest.next();
    if (first.done === true || first.value.name !== databaseMember) throw damaged();
    await writeNewFile(copy, first.value.content);
    await examine(copy, manifest);
    const database = new (loadSqlite().DatabaseSync)(copy, { readOnly: true });
    try {
      await replaceContent(config, migrations.length, options, async (client, statements) => {
        report.tables = await moveRows(database, client, statements, options);
        report.originals = await moveOriginals(rest, client);
      });
    } finally {
      database.close();
    }
    return report;
  } finally {
    await removeDatabase(copy);
  }
}

async function moveRows(
  database: DatabaseSync,
  client: Client,
  statements: Connection,
  { onProgress }: BackupOptions,
): Promise<MoveReport['tables']> {
  const all = await readTables(statements);
  const tables = all.filter(({ name }) => !isMadeAnew(name));
  const known = moveTables(database);
  const [written, readBack] = [new Map<string, RowDigest>(), new Map<string, RowDigest>()];
  // What triggers would compute is in the backup, or made below.
  for (const { name } of all) await client.query(`ALTER TABLE carrel.${name} DISABLE TRIGGER USER`);
  await client.query(`TRUNCATE ${tables.map(({ name }) => `carrel.${name}`).join(', ')} CASCADE`);
  for (const facts of tables) {
    const table = inOrder(known.get(facts.name), facts.columns ?? []);
    const digest = createRowDigest();
    written.set(table.name, digest);
    const copy = await copyIn(client, `COPY carrel.${table.name} (${columnList(facts)}) FROM STDIN`);
    let gathered = '';
    for await (const row of digested(sqliteRows(database, table), digest)) {
      gathered += copyLine(row);
      if (gathered.length < sentAtOnce) continue;
      await copy.write(Buffer.from(gathered));
      gathered = '';
    }
    if (gathered !== '') await copy.write(Buffer.from(gathered));
    await copy.end();
    onProgress('moving', written.size, tables.length);
  }
  await setSequences(
    statements,
    tables.map(({ name, sequences = {} }) => ({ name, sequences: numbersOf(database, name, sequences) })),
  );
  for (const { name } of all) await client.query(`ALTER TABLE carrel.${name} ENABLE TRIGGER USER`);
  await makeIndexes(statements);
  for (const facts of tables) {
    const table = inOrder(known.get(facts.name), facts.columns ?? []);
    const digest = createRowDigest();
    readBack.set(table.name, digest);
    const lines = copyOut(client, `COPY carrel.${table.name} (${columnList(facts)}) TO STDOUT`);
    for await (const row of copyRows(lines, table)) digest.add(row);
    onProgress('comparing', readBack.size, tables.length);
  }
  return verified(written, readBack);
}

/** The columns in PostgreSQL's order; both must have the same. */
function inOrder(table: MoveTable | undefined, columns: readonly string[]): MoveTable {
  if (table === undefined || table.columns.length !== columns.length) throw damaged();
  const found = columns.map((name) => table.columns.find((column) => column.name === name));
  return { name: table.name, columns: found.map((column) => column ?? fail()) };
}

function fail(): never {
  throw damaged();
}

async function makeIndexes(statements: Connection): Promise<void> {
  for (const { name } of wordIndexes) {
    await makeVectors(statements, name);
    await statements.query(
      `UPDATE carrel.${name}_statistics SET documents = t.documents, title_length = t.title_length,
         heading_length = t.heading_length, body_length = t.body_length
       FROM (SELECT count(*) AS documents, coalesce(sum(title_length), 0) AS title_length,
         coalesce(sum(heading_length), 0) AS heading_length, coalesce(sum(body_length), 0) AS body_length
         FROM carrel.${name}_terms) t WHERE part = 0`,
    );
  }
}

/** The distinct terms of each document: of most by the database itself, of those that may have too many as in word-table.ts. */
async function makeVectors(statements: Connection, name: string): Promise<void> {
  const terms = "concat_ws(' ', title, title_extra, heading, heading_extra, body, body_extra)";
  const fits = `octet_length(${terms}) <= ${vectorBytesMax}`;
  await statements.query(
    `INSERT INTO carrel.${name}_words (key, words) SELECT key, array_to_tsvector(array_remove(string_to_array(${terms}, ' '), ''))
     FROM carrel.${name}_terms WHERE ${fits}`,
  );
  const others = await statements.query(`SELECT key FROM carrel.${name}_terms WHERE NOT ${fits} ORDER BY key`);
  for (const row of others) {
    const key = numberOf(row, 'key');
    const [found = {}] = await statements.query(`SELECT ${terms} AS terms FROM carrel.${name}_terms WHERE key = $1`, [
      key,
    ]);
    await insertVectors(withQuestionMarks(statements), name, [key], [vectorsOf([textOf(found, 'terms')])]);
  }
}

/** Numbers are not given twice, not even those of what was removed. */
function numbersOf(
  database: DatabaseSync,
  table: string,
  columns: Readonly<Record<string, number>>,
): Record<string, number> {
  const given = Number(database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table)?.['seq'] ?? 0);
  return Object.fromEntries(
    Object.keys(columns).map((column) => {
      const row = database.prepare(`SELECT coalesce(max(${column}), 0) AS last FROM ${table}`).get();
      return [column, Math.max(given, Number(row?.['last'] ?? 0))];
    }),
  );
}

/** Files become rows, in parts. */
async function moveOriginals(members: AsyncIterator<ArchiveMember>, client: Client): Promise<number> {
  let count = 0;
  for (let next = await members.next(); next.done !== true; next = await members.next()) {
    const member = next.value;
    if (!isOriginal(member)) throw damaged();
    const name = originalHash(member);
    const values = [name, member.size];
    const { rows } = await client.query<{ key: string }>(
      'INSERT INTO carrel.kb_originals (hash, bytes) VALUES ($1, $2) RETURNING key',
      values,
    );
    const hash = createHash('sha256');
    let part = 0;
    for await (const data of inPieces(member.content, partBytes)) {
      hash.update(data);
      await client.query('INSERT INTO carrel.kb_original_parts (original, part, data) VALUES ($1, $2, $3)', [
        rows[0]?.key,
        part,
        data,
      ]);
      part += 1;
    }
    if (hash.digest('hex') !== name) throw damaged();
    count += 1;
  }
  return count;
}
