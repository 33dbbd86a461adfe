import type { SharedStore } from '../../base/shared-store.ts';
import type { DocumentStore } from './documents.ts';
import type { EntryStore } from './entries.ts';
import type { EntryFilter } from './entry-filter.ts';
import type { IngestionStore, OriginalStore } from './ingestion.ts';
import type { NoteStore } from './notes.ts';
import type { PassageFilter, PassageStore } from './passages.ts';
import type { TokenStore } from './tokens.ts';
import type { VectorStore } from './vectors.ts';

/**
 * All of Carrel's data. One contract per concern, implemented for each database; whatever
 * differs between them is hidden here. A write is on disk when its promise resolves, and every read that starts
 * afterwards, from any process, sees it.
 */
export interface Storage {
  readonly backend: StorageDescription['backend'];
  readonly notes: NoteStore;
  readonly entries: EntryStore;
  readonly documents: DocumentStore;
  readonly ingestion: IngestionStore;
  readonly originals: OriginalStore;
  readonly passages: PassageStore;
  readonly vectors: VectorStores;
  readonly tokens: TokenStore;
  /** On PostgreSQL. */
  readonly shared?: SharedStore | undefined;
  /** On PostgreSQL, where searches have a server of their own. */
  readonly replica?: ReplicaWatch | undefined;
  /** Of the calls since it was opened. */
  readonly metrics: CallMetrics;
  connections(): ConnectionCounts;
  describe(): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each; none if all is well. */
  check(): Promise<string[]>;
  /** Finishes writes that have begun, refuses new calls. */
  close(): Promise<void>;
}

export interface StorageDescription {
  readonly backend: 'sqlite' | 'postgres';
  /** Of the database engine. */
  readonly version: string;
  readonly schema: number;
  readonly bytes: number;
}

/** SQLite's threads have a connection each; PostgreSQL's are in a pool. */
export type ConnectionCounts =
  | { readonly backend: 'sqlite'; readonly opened: number; readonly broken: number }
  | { readonly backend: 'postgres'; readonly open: number; readonly idle: number; readonly max: number };

export interface ReplicaWatch {
  look(): Promise<ReplicaState>;
  /** Of the reads that it may answer: how many were answered where. */
  counts(): Readonly<Record<'replica' | 'primary', number>>;
}

/** How far it is behind the primary, or why it cannot be used. */
export interface ReplicaState {
  readonly behindBytes?: number;
  readonly trouble?: string;
}

export interface CallMetrics {
  readonly calls: number;
  /** Of those, the ones that have not ended. */
  readonly running: number;
  readonly writing: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  /** Our code of it, and when: ISO 8601, UTC. What the database itself said is in the log. */
  readonly lastFailure: { readonly code: string; readonly time: string } | undefined;
}

export interface StorageDeps {
  readonly now?: () => Date;
}

export interface VectorStores {
  readonly context: VectorStore<EntryFilter>;
  readonly kb: VectorStore<PassageFilter>;
}
