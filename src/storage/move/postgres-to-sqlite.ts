import type { DatabaseSync } from 'node:sqlite';
import { type ArchiveMember, damaged } from '../backup/archive.ts';
import type { BackupOptions } from '../backup/backup-source.ts';
import { checkBackupSchema, type Manifest, type TableFacts } from '../backup/manifest.ts';
import { openDatabase } from '../sqlite/database.ts';
import { closeToOthers } from '../sqlite/database-file.ts';
import { migrate } from '../sqlite/migrate.ts';
import { migrations } from '../sqlite/migrations.ts';
import { replaceFile, type SqliteTarget, settle } from '../sqlite/restore.ts';
import { loadSqlite } from '../sqlite/sqlite-module.ts';
import { wordIndexes } from '../stores/words/word-indexes.ts';
import { copyRows } from './copy-text.ts';
import { type MoveReport, verified } from './move-report.ts';
import { isMadeAnew, type MoveTable } from './move-table.ts';
import { createOriginalParts, type OriginalParts } from './original-parts.ts';
import { createRowDigest, digested, type RowDigest } from './row-digest.ts';
import { moveTables, sqliteRows, writeSqliteRows } from './sqlite-rows.ts';

const busyTimeoutMs = 1000;

/** Fills a SQLite database, and the folder of its originals, with a backup of a PostgreSQL one. */
export async function postgresToSqlite(
  target: SqliteTarget,
  manifest: Manifest,
  members: AsyncIterable<ArchiveMember>,
  options: BackupOptions,
): Promise<MoveReport> {
  checkBackupSchema(manifest, migrations.length);
  const report: { tables: MoveReport['tables']; originals: number } = { tables: [], originals: 0 };
  const originals = createOriginalParts(target.originals);
  try {
    await replaceFile(target.path, options, async (fresh) => {
      await makeEmpty(fresh, manifest.schema);
      report.tables = await fill(fresh, manifest, members, originals);
      report.originals = await originals.join();
      options.onProgress('checking', 0, 0);
      const database = openDatabase({ path: fresh, role: 'writer', busyTimeoutMs });
      try {
        await settle(database);
        database.exec('PRAGMA journal_mode = DELETE');
      } finally {
        database.close();
      }
    });
  } finally {
    await originals.release();
  }
  return report;
}

async function makeEmpty(path: string, schema: number): Promise<void> {
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs });
  try {
    await migrate(database, migrations.slice(0, schema));
    closeToOthers(path);
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

async function fill(
  path: string,
  { tables }: Manifest,
  members: AsyncIterable<ArchiveMember>,
  originals: OriginalParts,
): Promise<MoveReport['tables']> {
  const database = new (loadSqlite().DatabaseSync)(path);
  try {
    // Nobody uses the file yet: if anything fails it is thrown away.
    database.exec('PRAGMA foreign_keys = OFF; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN');
    const triggers = takeTriggers(database);
    const known = moveTables(database);
    if (tables.filter(({ name }) => !isMadeAnew(name)).length !== known.size) throw damaged();
    for (const name of known.keys()) database.exec(`DELETE FROM ${name}`);
    const written = new Map<string, RowDigest>();
    for await (const { facts, lines } of byTable(tables, members)) {
      if (await originals.take(facts, lines)) continue;
      const isNeeded = !isMadeAnew(facts.name);
      const table = tableOf(known, facts);
      const digest = createRowDigest();
      if (isNeeded) {
        await writeSqliteRows(database, table, digested(copyRows(lines, table), digest));
        written.set(facts.name, digest);
        if (digest.rows !== facts.rows) throw damaged();
      } else for await (const _ of lines) void _;
    }
    for (const { name, rows } of tables) {
      if (!isMadeAnew(name) && rows > 0 && !written.has(name)) throw damaged();
    }
    makeIndexes(database);
    for (const facts of tables) keepNumbers(database, facts);
    for (const trigger of triggers) database.exec(trigger);
    database.exec('COMMIT');
    if (database.prepare('PRAGMA foreign_key_check').get() !== undefined) throw damaged();
    return verified(written, readBack(database, known, written));
  } finally {
    database.close();
  }
}

function readBack(
  database: DatabaseSync,
  known: ReadonlyMap<string, MoveTable>,
  written: ReadonlyMap<string, RowDigest>,
): Map<string, RowDigest> {
  const found = new Map<string, RowDigest>();
  for (const name of written.keys()) {
    const table = known.get(name);
    const digest = createRowDigest();
    if (table !== undefined) for (const row of sqliteRows(database, table)) digest.add(row);
    found.set(name, digest);
  }
  return found;
}

/** What they would do is in the backup already. Those that were taken are made again from their own text. */
function takeTriggers(database: DatabaseSync): string[] {
  const rows = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of rows) database.exec(`DROP TRIGGER ${String(name)}`);
  return rows.map(({ sql }) => String(sql));
}

/** The lines of each table in turn, from the parts that the backup has them in. */
async function* byTable(
  tables: readonly TableFacts[],
  members: AsyncIterable<ArchiveMember>,
): AsyncGenerator<{ facts: TableFacts; lines: AsyncIterable<Uint8Array> }> {
  const iterator = members[Symbol.asyncIterator]();
  const done = new Set<string>();
  let next = await iterator.next();
  while (next.done !== true) {
    const name = tableName(next.value);
    const facts = tables.find((each) => each.name === name);
    if (facts === undefined || done.has(facts.name)) throw damaged();
    done.add(facts.name);
    yield { facts, lines: linesOf(facts.name) };
  }

  async function* linesOf(name: string): AsyncGenerator<Uint8Array> {
    while (next.done !== true && tableName(next.value) === name) {
      yield* next.value.content;
      next = await iterator.next();
    }
  }
}

function tableName({ name }: ArchiveMember): string | undefined {
  return /^tables\/([a-z0-9_]+)\/\d{6,}$/.exec(name)?.[1];
}

/** With its columns in the order of the backup; both must have the same. */
function tableOf(known: ReadonlyMap<string, MoveTable>, { name, columns = [] }: TableFacts): MoveTable {
  const table = known.get(name);
  if (table === undefined) return { name, columns: [] };
  const found = columns.flatMap((column) => table.columns.find((each) => each.name === column) ?? []);
  if (found.length !== table.columns.length || found.length !== columns.length) throw damaged();
  return { name, columns: found };
}

/** What SQLite keeps beside the rows. The vectors' blocks are packed by the next server. */
function makeIndexes(database: DatabaseSync): void {
  for (const { name } of wordIndexes) {
    database.exec(`INSERT INTO ${name}_words (${name}_words) VALUES ('rebuild')`);
    database.exec(
      `UPDATE ${name}_statistics SET (documents, title_length, heading_length, body_length) = (
         SELECT count(*), coalesce(sum(title_length), 0), coalesce(sum(heading_length), 0), coalesce(sum(body_length), 0)
         FROM ${name}_terms)`,
    );
  }
  database.exec(`
    INSERT OR IGNORE INTO note_tags (tag, note) SELECT t.value, n.key FROM notes n CROSS JOIN json_each(n.tags) t;
    INSERT OR IGNORE INTO kb_passage_labels (label, key)
      SELECT l.value, p.key FROM kb_passages p CROSS JOIN json_each(p.labels) l`);
}

/** Numbers are not given twice, not even those of what was removed. */
function keepNumbers(database: DatabaseSync, { name, sequences = {} }: TableFacts): void {
  const last = Math.max(0, ...Object.values(sequences));
  const sql = String(database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(name)?.['sql'] ?? '');
  if (last === 0 || !sql.includes('AUTOINCREMENT')) return;
  database.prepare('DELETE FROM sqlite_sequence WHERE name = ? AND seq < ?').run(name, last);
  database
    .prepare(
      'INSERT INTO sqlite_sequence (name, seq) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)',
    )
    .run(name, last, name);
}
