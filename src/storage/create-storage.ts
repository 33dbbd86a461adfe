import type { SharedStore } from '../base/shared-store.ts';
import type { OriginalStore } from './contracts/ingestion.ts';
import type { Storage } from './contracts/storage.ts';
import { createDocumentStore, createIngestionStore } from './stores/documents/document-stores.ts';
import { createEntryStore } from './stores/entries/entry-store.ts';
import { createNoteStore } from './stores/notes/note-store.ts';
import { createPassageStore } from './stores/passages/passage-store.ts';
import { createTokenStore } from './stores/tokens/token-store.ts';
import { checkStorage, describeStorage } from './stores/upkeep.ts';
import { createVectorStores, type NearestOperations } from './stores/vectors/vector-store.ts';
import { meterTransactions, type Transactions } from './transactions.ts';

/** What each database implements; everything else is written once. */
export interface StorageParts {
  readonly backend: Storage['backend'];
  readonly transactions: Transactions;
  createOriginals(transactions: Transactions): OriginalStore;
  readonly nearest?: NearestOperations | undefined;
  createShared?(transactions: Transactions): SharedStore;
  readonly replica?: Storage['replica'];
  readonly connections: Storage['connections'];
  close(): Promise<void>;
}

export function createStorage({
  createOriginals,
  backend,
  nearest,
  createShared,
  replica,
  connections,
  close,
  ...parts
}: StorageParts): Storage {
  const { transactions, metrics } = meterTransactions(parts.transactions);
  return {
    backend,
    notes: createNoteStore(transactions),
    entries: createEntryStore(transactions),
    documents: createDocumentStore(transactions),
    ingestion: createIngestionStore(transactions),
    originals: createOriginals(transactions),
    passages: createPassageStore(transactions),
    vectors: createVectorStores(transactions, nearest),
    tokens: createTokenStore(transactions),
    shared: createShared?.(transactions),
    replica,
    metrics,
    connections,
    describe: () => transactions.read(describeStorage, undefined),
    check: () => transactions.alone(checkStorage, undefined),
    close,
  };
}
