import type { Logger } from '../base/log.ts';
import type { SharedStore } from '../base/shared-store.ts';
import type { StorageDescription } from './dialect.ts';
import type { OriginalStore } from './documents/original-store.ts';
import type { PlainStores } from './operations.ts';
import type { CallMetrics } from './transactions.ts';
import type { VectorStores } from './vectors/vector-store.ts';

/**
 * All of Carrel's data. One contract per concern, implemented for each database; differences between them are hidden here. A
 * write is on disk when its promise resolves, and every later read, from any process, sees it.
 */
export interface Storage extends PlainStores {
  readonly backend: StorageDescription['backend'];
  readonly originals: OriginalStore;
  readonly vectors: VectorStores;
  /** Only on PostgreSQL. */
  readonly shared?: SharedStore | undefined;
  /** On PostgreSQL with a separate server for searches. */
  readonly replica?: ReplicaWatch | undefined;
  /** Only on PostgreSQL. */
  readonly background?: BackgroundWatch | undefined;
  /** Calls since it was opened. */
  readonly metrics: CallMetrics;
  connections(): ConnectionCounts;
  describe(): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each; none if all is well. */
  check(): Promise<string[]>;
  /** Finishes running writes, refuses new calls. */
  close(): Promise<void>;
}

/** SQLite's threads have a connection each; PostgreSQL's are in a pool. */
export type ConnectionCounts =
  | { readonly backend: 'sqlite'; readonly opened: number; readonly broken: number }
  | { readonly backend: 'postgres'; readonly open: number; readonly idle: number; readonly max: number };

export interface ReplicaWatch {
  look(): Promise<ReplicaState>;
  /** Replica-eligible reads, by who answered. */
  counts(): Readonly<Record<'replica' | 'primary', number>>;
}

/** Its lag behind the primary, or why it cannot be used. */
export interface ReplicaState {
  readonly behindBytes?: number;
  readonly trouble?: string;
}

export interface BackgroundWatch {
  /** Steps whose last attempt failed, in any process on the database. */
  failures(): Promise<BackgroundFailure[]>;
  /** Failed attempts of this process, by step. */
  counts(): ReadonlyMap<string, number>;
}

export interface BackgroundFailure {
  readonly name: string;
  /** Our code, or the SQLSTATE. */
  readonly code: string;
  /** Time of the first of these attempts: ISO 8601, UTC. */
  readonly since: string;
  readonly attempts: number;
}

export interface StorageDeps {
  readonly now?: () => Date;
  /** For background work that fails. */
  readonly logger?: Logger;
}
