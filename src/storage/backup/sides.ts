import type { Table } from '../schema/table.ts';
import type { ArchiveMember } from './archive.ts';
import type { TableFacts } from './manifest.ts';
import type { StoredRow } from './rows.ts';

/** A database whose rows can be streamed, because a table may exceed memory. */
export interface RowSource {
  rows(table: Table): AsyncIterable<StoredRow> | Iterable<StoredRow>;
}

/** One consistent state of a database, held while it is backed up. */
export interface BackupSource extends RowSource {
  readonly tables: readonly TableFacts[];
  readonly files: number;
  readonly warnings: readonly string[];
  originals(): AsyncIterable<ArchiveMember>;
  close(): Promise<void>;
}

/** An empty database with our schema, not in use yet. */
export interface RestoreTarget extends RowSource {
  write(table: Table, rows: AsyncIterable<StoredRow>): Promise<void>;
  /** Checks that the content matches the hash in its name. */
  writeOriginal(member: ArchiveMember): Promise<void>;
  /** After the last row: builds indexes and sums, and continues the numbering. */
  finish(tables: readonly TableFacts[]): Promise<void>;
}

/** Fills the database. If it throws, nothing is changed. */
export type Fill<T> = (target: RestoreTarget) => Promise<T>;

export interface BackupOptions {
  /** Overwrite the existing backup file, or the content of the database. */
  readonly force: boolean;
  readonly onProgress: ProgressReport;
}

/** `total` is 0 if unknown. */
export type ProgressReport = (phase: string, done: number, total: number) => void;
