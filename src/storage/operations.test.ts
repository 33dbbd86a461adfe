import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStorage } from './create-storage.ts';
import { nameOf, operationNames, operationOf } from './operations.ts';
import { createOriginals } from './sqlite/sqlite-storage.ts';
import type { Transactions } from './transactions.ts';

test('the table has every operation that a store performs, and no other', async () => {
  const performed = new Set<string>();
  const perform: Transactions['read'] = async (operation) => {
    const name = nameOf(operation);
    assert.equal(operationOf(name), operation, name);
    performed.add(name);
    // Taken for a list, for texts that may be claimed, for nothing, or for the end of a loop.
    if (name === 'otherClaims') return { free: true } as never;
    return (name === 'forgetModel' || name === 'usedOriginals' ? [] : undefined) as never;
  };
  const { notes, entries, documents, ingestion, passages, vectors, tokens, originals, describe, check } = createStorage(
    {
      backend: 'sqlite',
      transactions: { write: perform, read: perform, alone: perform },
      createOriginals: (transactions) => createOriginals('', transactions),
      connections: () => ({ backend: 'sqlite', opened: 0, broken: 0 }),
      close: async () => {},
    },
  );
  const stores = [
    notes,
    entries,
    documents,
    ingestion,
    passages,
    vectors.context,
    vectors.kb,
    tokens,
    { describe, check },
  ];
  const methods = stores.flatMap((store): unknown[] => Object.values(store));
  for (const method of methods) if (typeof method === 'function') await method({}).catch(() => {});
  await originals.release(['']);
  // Asked by what opens SQLite's file, and by its sweep.
  const others = ['storedLanguage', 'usedOriginals'];
  assert.deepEqual([...performed, ...others].sort(), [...operationNames].sort());
});

test('an operation that is not in the table is refused by name', () => {
  assert.throws(() => nameOf(async function unlisted() {}), /unlisted is not in the table/);
});
