import type { SharedStore } from '../base/shared-store.ts';
import type { OriginalStore } from './documents/originals.ts';
import { type PlainStores, plainStores, upkeepOperations } from './operations.ts';
import type { Storage } from './storage.ts';
import { createStore } from './store-operations.ts';
import { meterTransactions, type Transactions } from './transactions.ts';
import { createVectorStores } from './vectors/vector-store.ts';
/** The parts that each database implements itself. All other code is shared. */
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
  createOriginals,
  backend,
  hasVectorIndex,
  createShared,
  replica,
  background,
  connections,
  close,
  ...parts
}: StorageParts): Storage {
  const { transactions, metrics } = meterTransactions(parts.transactions);
  const created = Object.entries(plainStores).map(([name, operations]) => [
    name,
    createStore(transactions, operations),
  ]);
  return {
    backend,
    ...(Object.fromEntries(created) as unknown as PlainStores),
    originals: createOriginals(transactions),
    vectors: createVectorStores(transactions, hasVectorIndex),
    shared: createShared?.(transactions),
    replica,
    background,
    metrics,
    connections,
    ...createStore(transactions, upkeepOperations),
    close,
  };
}
