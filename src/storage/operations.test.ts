import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, operationOf, operations } from './operations.ts';
import { createOriginals } from './sqlite/original-files.ts';
import { createStorage } from './storage.ts';
import type { Transactions } from './transactions.ts';

test('lists exactly the operations that stores perform', async () => {
  const performed = new Set<string>();
  const perform: Transactions['read'] = async (operation) => {
    const name = nameOf(operation);
    assert.equal(operationOf(name), operation, name);
    performed.add(name);
    // An empty list, or undefined, which ends the loop of `drop`.
    return (name === 'originals.used' ? [] : undefined) as never;
  };
  const { vectors, originals, ...stores } = createStorage({
    backend: 'sqlite',
    transactions: { write: perform, read: perform, withoutTimeout: perform },
    createOriginals: (transactions) => createOriginals('', transactions),
    hasVectorIndex: false,
    connections: () => ({ backend: 'sqlite', opened: 0, broken: 0 }),
    close: async () => {},
  });
  const all = [...Object.values(stores), vectors.context, vectors.kb, stores];
  for (const method of all.flatMap((store): unknown[] => Object.values(store ?? {}))) {
    if (typeof method === 'function') await Promise.resolve(method({})).catch(() => {});
  }
  await originals.release(['']);
  // Used when SQLite's file is opened, and by its sweep.
  const others = ['maintenance.language', 'originals.used'];
  assert.deepEqual([...performed, ...others].sort(), [...operations.keys()].sort());
});

test('rejects an operation that is not in the table', () => {
  assert.throws(() => nameOf(async function unlisted() {}), /unlisted is not in the table/);
});
