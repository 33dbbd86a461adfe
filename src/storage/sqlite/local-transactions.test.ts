import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { numberOf, type Operation } from '../statements.ts';
import { type Database, openDatabase } from './database.ts';
import { createSqliteDialect } from './dialect.ts';
import { createLocalTransactions, type LocalTransactions } from './local-transactions.ts';
import { migrate } from './migrate.ts';

function openTransactions(t: TestContext): { database: Database; transactions: LocalTransactions } {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-transactions-'));
  const database = openDatabase({ path: join(folder, 'test.db'), role: 'writer', busyTimeoutMs: 0 });
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  migrate(database);
  database.exec('CREATE TABLE counter (value INTEGER NOT NULL); INSERT INTO counter VALUES (0)');
  const dialect = createSqliteDialect(database, { documentsDir: folder });
  return { database, transactions: createLocalTransactions(database, dialect) };
}

/** Reads and writes with a pause between, in which another writer would get in if it could. */
const countUp: Operation<{ fail: boolean }, number> = async (on, { fail }) => {
  const [row = {}] = await on.query('SELECT value FROM counter');
  await turn();
  const value = numberOf(row, 'value') + 1;
  await on.query('UPDATE counter SET value = ?', [value]);
  await turn();
  if (fail) throw new Error('thought better of it');
  return value;
};

const readCounter: Operation<object, number> = async (on) => {
  const [row = {}] = await on.query('SELECT value FROM counter');
  return numberOf(row, 'value');
};

test('a transaction that awaits lets no other one in between', async (t) => {
  const { transactions } = openTransactions(t);
  const written = [1, 2, 3].map(() => transactions.write(countUp, { fail: false }, ''));
  assert.deepEqual(await Promise.all(written), [1, 2, 3]);
  assert.equal(await transactions.read(readCounter, {}, ''), 3);
});

test('a transaction that fails leaves nothing, and takes nothing of another with it', async (t) => {
  const { transactions } = openTransactions(t);
  const [first, second, read] = await Promise.allSettled([
    transactions.write(countUp, { fail: true }, ''),
    transactions.write(countUp, { fail: false }, ''),
    transactions.read(readCounter, {}, ''),
  ]);
  assert.equal(first.status, 'rejected');
  assert.deepEqual(
    [second, read],
    [
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 1 },
    ],
  );
});

test('work that needs the connection to itself waits for its turn', async (t) => {
  const { database, transactions } = openTransactions(t);
  const written = transactions.write(countUp, { fail: false }, '');
  const seen = await transactions.alone(() => database.get('SELECT value FROM counter')?.['value']);
  assert.equal(seen, 1);
  await written;
});
