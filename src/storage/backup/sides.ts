import type { Table } from '../schema/table.ts';
import type { ArchiveMember } from './archive.ts';
import type { TableFacts } from './manifest.ts';
import type { StoredRow } from './rows.ts';

/** A database whose rows can be streamed, because a table may be larger than memory. */
export interface RowSource {
  rows(table: Table): AsyncIterable<StoredRow> | Iterable<StoredRow>;
}

/** A snapshot of a database, kept open while it is backed up. */
export interface BackupSource extends RowSource {
  readonly tables: readonly TableFacts[];
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
  /** Call after the last row. Builds indexes and statistics, and continues the row numbers of the backup. */
  finish(tables: readonly TableFacts[]): Promise<void>;
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
