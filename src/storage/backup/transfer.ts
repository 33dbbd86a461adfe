import { inPieces } from '../../base/in-pieces.ts';
import { columnNames, type Table } from '../schema/table.ts';
import { tables } from '../schema/tables.ts';
import { type ArchiveMember, damaged } from './archive.ts';
import { type Manifest, type TableInfo, writeManifest } from './manifest.ts';
import { isOriginal } from './originals.ts';
import { createRowDigest, lineOf, linesIn, type RowDigest, rowOf, type StoredRow } from './rows.ts';

/** Streams the rows of a database, because a table may be larger than memory. */
export interface RowSource {
  rows(table: Table): AsyncIterable<StoredRow> | Iterable<StoredRow>;
}

/** A snapshot of a database, open while it is backed up. */
export interface BackupSource extends RowSource {
  readonly tables: readonly TableInfo[];
  readonly files: number;
  readonly warnings: readonly string[];
  originals(): AsyncIterable<ArchiveMember>;
  close(): Promise<void>;
}

/** An empty database with Carrel's schema, not in use yet. */
export interface RestoreTarget extends RowSource {
  write(table: Table, rows: AsyncIterable<StoredRow>): Promise<void>;
  /** Writes an original. Throws if the content does not match the hash in its name. */
  writeOriginal(member: ArchiveMember): Promise<void>;
  /** Builds indexes and statistics, and continues the row numbers of the backup. Call it after the last row. */
  finish(tables: readonly TableInfo[]): Promise<void>;
}

/** Fills the database. If it throws, the old content stays. */
export type Fill<T> = (target: RestoreTarget) => Promise<T>;

export interface BackupOptions {
  /** True to overwrite an existing backup file or, when restoring, the content of the database. */
  readonly force: boolean;
  readonly onProgress: ProgressReport;
}

/** Reports progress. `total` is 0 if unknown. */
export type ProgressReport = (phase: string, done: number, total: number) => void;

/** Rows are collected into archive members of at least this many bytes. */
const partBytes = 4 * 1024 * 1024;

interface RestoredTable {
  readonly name: string;
  readonly rows: number;
  readonly sha256: string;
}

/** The restored tables, each verified by reading it back. */
export interface RestoreReport {
  readonly tables: readonly RestoredTable[];
  /** Number of originals, each verified by the SHA-256 in its name. */
  readonly originals: number;
}

/** Yields the members of a backup: the manifest, the rows of every table, then the originals. */
export async function* membersOf(
  manifest: Manifest,
  source: BackupSource,
  onProgress: ProgressReport,
): AsyncGenerator<ArchiveMember> {
  yield writeManifest(manifest);
  for (const [index, table] of tables.entries()) {
    onProgress('writing', index, tables.length);
    let part = 0;
    for await (const content of inPieces(linesOf(source, table), partBytes)) {
      part += 1;
      const name = `tables/${table.name}/${String(part).padStart(6, '0')}`;
      yield { name, size: content.length, content: [content] };
    }
  }
  onProgress('writing', tables.length, tables.length);
  yield* source.originals();
}

/** Writes the members of a backup into a database. Then reads every table back and compares it with the backup. */
export async function fill(
  target: RestoreTarget,
  manifest: Manifest,
  members: AsyncIterable<ArchiveMember>,
  onProgress: ProgressReport,
): Promise<RestoreReport> {
  checkTables(manifest);
  const remaining = members[Symbol.asyncIterator]();
  let originals = 0;
  const digests = new Map<Table, RowDigest>();
  try {
    let next = await remaining.next();
    const contentOf = async function* (table: Table): AsyncGenerator<Uint8Array> {
      for (; next.done !== true && next.value.name.startsWith(`tables/${table.name}/`); next = await remaining.next()) {
        yield* next.value.content;
      }
    };
    for (const table of tables) {
      const digest = createRowDigest();
      digests.set(table, digest);
      await target.write(table, rowsIn(contentOf(table), table, digest));
      if (digest.rows !== manifest.tables.find(({ name }) => name === table.name)?.rows) throw damaged();
    }
    for (; next.done !== true; next = await remaining.next()) {
      if (!isOriginal(next.value)) throw damaged();
      await target.writeOriginal(next.value);
      originals += 1;
    }
  } finally {
    await remaining.return?.();
  }
  if (originals !== manifest.files) throw damaged();
  await target.finish(manifest.tables);
  return { tables: await compare(target, digests, onProgress), originals };
}

/** Throws if the backup's tables or columns differ from the current schema. */
function checkTables(manifest: Manifest): void {
  const shape = (list: readonly { name: string; columns: readonly string[] }[]) =>
    JSON.stringify(list.map(({ name, columns }) => [name, ...columns]));
  const expected = tables.map((table) => ({ name: table.name, columns: columnNames(table) }));
  if (shape(expected) !== shape(manifest.tables)) throw damaged();
}

async function* linesOf(source: RowSource, table: Table): AsyncGenerator<Buffer> {
  for await (const row of source.rows(table)) yield Buffer.from(`${lineOf(row)}\n`);
}

async function* rowsIn(content: AsyncIterable<Uint8Array>, table: Table, digest: RowDigest): AsyncGenerator<StoredRow> {
  for await (const line of linesIn(content)) {
    digest.add(line);
    yield rowOf(line, table);
  }
}

async function compare(
  source: RowSource,
  digests: ReadonlyMap<Table, RowDigest>,
  onProgress: ProgressReport,
): Promise<RestoredTable[]> {
  const report: RestoredTable[] = [];
  for (const [table, digest] of digests) {
    const actual = createRowDigest();
    for await (const row of source.rows(table)) actual.add(lineOf(row));
    const sha256 = digest.sum();
    if (actual.rows !== digest.rows || actual.sum() !== sha256) {
      throw damaged(new Error(`after the restore, ${table.name} differs from the backup`));
    }
    report.push({ name: table.name, rows: actual.rows, sha256 });
    onProgress('comparing', report.length, digests.size);
  }
  return report;
}
