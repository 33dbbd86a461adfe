import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, operationOf } from './operations.ts';
import { createDocumentStore } from './stores/documents/document-store.ts';
import { createIngestionStore } from './stores/documents/ingestion-store.ts';
import { createEntryStore } from './stores/entries/entry-store.ts';
import type { Transactions } from './transactions.ts';

test('every operation that a store performs is in the table', async () => {
  const performed: string[] = [];
  const perform: Transactions['read'] = async (operation) => {
    const name = nameOf(operation);
    assert.equal(operationOf(name), operation, name);
    performed.push(name);
    // Nobody looks at the answer.
    return undefined as never;
  };
  const transactions: Transactions = { write: perform, read: perform };
  const stores = [
    createEntryStore(transactions),
    createDocumentStore(transactions),
    createIngestionStore(transactions),
  ];
  const methods = stores.flatMap((store): ((request: never) => unknown)[] => Object.values(store));
  for (const method of methods) await method({} as never);
  assert.equal(new Set(performed).size, methods.length);
});

test('an operation that is not in the table is refused by name', () => {
  assert.throws(() => nameOf(async function unlisted() {}), /unlisted is not in the table/);
});
