import type { ArchiveMember } from './archive.ts';
import type { TableFacts } from './manifest.ts';

/** One consistent state of a database, held while it is written out. */
export interface BackupSource {
  readonly schema: number;
  readonly tables: readonly TableFacts[];
  readonly files: number;
  readonly warnings: readonly string[];
  members(): AsyncIterable<ArchiveMember>;
  close(): Promise<void>;
}

export interface BackupOptions {
  /** Overwrite the existing backup file, or the content of the database. */
  readonly force: boolean;
  readonly onProgress: ProgressReport;
}

/** `total` is 0 if unknown. */
export type ProgressReport = (phase: string, done: number, total: number) => void;
