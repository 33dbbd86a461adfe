import type { SharedStore } from '../base/shared-store.ts';
import { documentOperations, ingestionOperations } from './documents/document-stores.ts';
import type { OriginalStore } from './documents/original-store.ts';
import { entryOperations } from './entries/entry-store.ts';
import { noteOperations } from './notes/notes.ts';
import { upkeepOperations } from './operations.ts';
import { passageOperations } from './passages/passage-store.ts';
import type { Storage } from './storage.ts';
import { createStore } from './store-operations.ts';
import { tokenOperations } from './tokens/token.ts';
import { meterTransactions, type Transactions } from './transactions.ts';
import { createVectorStores } from './vectors/vector-store.ts';
import { webOperations } from './web/web.ts';

/** What each database implements; everything else is shared. */
export interface StorageParts {
  readonly backend: Storage['backend'];
  readonly transactions: Transactions;
  createOriginals(transactions: Transactions): OriginalStore;
  /** The database finds the nearest vectors itself. */
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
  return {
    backend,
    notes: createStore(transactions, noteOperations),
    entries: createStore(transactions, entryOperations),
    documents: createStore(transactions, documentOperations),
    ingestion: createStore(transactions, ingestionOperations),
    originals: createOriginals(transactions),
    passages: createStore(transactions, passageOperations),
    vectors: createVectorStores(transactions, hasVectorIndex),
    tokens: createStore(transactions, tokenOperations),
    web: createStore(transactions, webOperations),
    shared: createShared?.(transactions),
    replica,
    background,
    metrics,
    connections,
    ...createStore(transactions, upkeepOperations),
    close,
  };
}
