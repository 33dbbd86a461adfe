import type { SharedStore } from '../base/shared-store.ts';
import type { OriginalStore } from './documents/originals.ts';
import { type PlainStores, plainStores, upkeepOperations } from './operations.ts';
import type { Storage } from './storage.ts';
import { createStore } from './store-operations.ts';
import { meterTransactions, type Transactions } from './transactions.ts';
import { createVectorStores } from './vectors/vector-store.ts';
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
  const stores = Object.entries(plainStores).map(([name, operations]) => [name, createStore(transactions, operations)]);
  return {
    ...parts,
    ...(Object.fromEntries(stores) as unknown as PlainStores),
    originals: createOriginals(transactions),
    vectors: createVectorStores(transactions, hasVectorIndex),
    shared: createShared?.(transactions),
    metrics,
    ...createStore(transactions, upkeepOperations),
  };
}
