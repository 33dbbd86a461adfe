import type { Logger } from '../base/log.ts';
import type { SharedStore } from '../base/shared-store.ts';
import type { StorageDescription } from './dialect.ts';
import type { OriginalStore } from './documents/originals.ts';
import { maintenanceOperations, type SimpleStores, simpleStores } from './operations.ts';
import { createStore } from './store-operations.ts';
import { type CallMetrics, meterTransactions, type Transactions } from './transactions.ts';
import { createVectorStores, type VectorStores } from './vectors/vector-store.ts';

/**
 * All of Carrel's data, with one store per concern. SQLite and PostgreSQL behave the same. A write is on disk when its promise
 * resolves, and every later read, from any process, sees it.
 */
export interface Storage extends SimpleStores {
  readonly backend: StorageDescription['backend'];
  readonly originals: OriginalStore;
  readonly vectors: VectorStores;
  /** Only on PostgreSQL. */
  readonly shared?: SharedStore | undefined;
  /** Only on PostgreSQL with a read replica. */
  readonly replica?: ReplicaWatch | undefined;
  /** Only on PostgreSQL. */
  readonly background?: BackgroundWatch | undefined;
  /** Counts the calls since the storage was opened. */
  readonly metrics: CallMetrics;
  connections(): ConnectionCounts;
  describe(): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each; none if all is well. */
  check(): Promise<string[]>;
  /** Rejects new calls and waits for running writes. */
  close(): Promise<void>;
}

/** Each SQLite thread has one connection. PostgreSQL connections are pooled. */
export type ConnectionCounts =
  | { readonly backend: 'sqlite'; readonly opened: number; readonly broken: number }
  | { readonly backend: 'postgres'; readonly open: number; readonly idle: number; readonly max: number };

export interface ReplicaWatch {
  check(): Promise<ReplicaState>;
  /** Counts the reads that a replica may answer, by the server that answered. */
  counts(): Readonly<Record<'replica' | 'primary', number>>;
}

/** The replica's lag behind the primary, or why it cannot be used. */
export interface ReplicaState {
  readonly behindBytes?: number;
  readonly trouble?: string;
}

export interface BackgroundWatch {
  /** Returns the steps whose last attempt failed, in any process that uses the database. */
  failures(): Promise<BackgroundFailure[]>;
  /** Returns the number of failed attempts in this process, by step. */
  counts(): ReadonlyMap<string, number>;
}

export interface BackgroundFailure {
  readonly name: string;
  /** Carrel's error code, or the database's SQLSTATE. */
  readonly code: string;
  /** Time of the first failed attempt: ISO 8601, UTC. */
  readonly since: string;
  readonly attempts: number;
}

export interface StorageDeps {
  readonly now?: () => Date;
  /** Logs failures of background work. */
  readonly logger?: Logger;
}

/** The parts that differ between the databases. */
export interface StorageParts {
  readonly backend: Storage['backend'];
  readonly transactions: Transactions;
  createOriginals(transactions: Transactions): OriginalStore;
  /** True if the database itself can find the nearest vectors. */
  readonly hasVectorIndex: boolean;
  createShared?(transactions: Transactions): SharedStore;
  readonly replica?: Storage['replica'];
  readonly background?: Storage['background'];
  readonly connections: Storage['connections'];
  close(): Promise<void>;
}

export function createStorage({
  transactions: unmetered,
  createOriginals,
  hasVectorIndex,
  createShared,
  ...parts
}: StorageParts): Storage {
  const { transactions, metrics } = meterTransactions(unmetered);
  const stores = Object.entries(simpleStores).map(([name, operations]) => [
    name,
    createStore(transactions, operations),
  ]);
  return {
    ...parts,
    ...(Object.fromEntries(stores) as unknown as SimpleStores),
    originals: createOriginals(transactions),
    vectors: createVectorStores(transactions, hasVectorIndex),
    shared: createShared?.(transactions),
    metrics,
    ...createStore(transactions, maintenanceOperations),
  };
}
