import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Database, openDatabase } from './database.ts';
import { createKeyLists } from './key-lists.ts';

/** The values of a JSON list, in its order. */
const listed = 'SELECT value AS key FROM json_each(?)';

test('keys come ascending and each once, whatever the order they are found in', (context) => {
  const keysOf = createKeyLists(openEmpty(context));
  const read = (keys: readonly number[]) => [...keysOf(listed, [JSON.stringify(keys)])];
  assert.deepEqual(read([]), []);
  assert.deepEqual(read([7]), [7]);
  assert.deepEqual(read([1, 2, 10]), [1, 2, 10]);
  assert.deepEqual(read([31, 4, 4, 15, 9, 31]), [4, 9, 15, 31]);
  // Too far apart to be marked.
  assert.deepEqual(read([9_000_000_000_000, 3, 70, 3]), [3, 70, 9_000_000_000_000]);
});

test('a list is read again when the database has changed', (context) => {
  const database = openEmpty(context);
  database.exec('CREATE TABLE kept (key INTEGER PRIMARY KEY)');
  const keysOf = createKeyLists(database);
  const read = () => [...keysOf('SELECT key FROM kept', [])];
  assert.deepEqual(read(), []);
  database.run('INSERT INTO kept VALUES (5)');
  assert.deepEqual(read(), [5]);
});

test('a list that is asked for again and again stays while others come and go', (context) => {
  const database = openEmpty(context);
  let reads = 0;
  const counting: Database = {
    ...database,
    get(sql, ...values) {
      if (sql.includes('group_concat') && values[0] === '[1]') reads += 1;
      return database.get(sql, ...values);
    },
  };
  const keysOf = createKeyLists(counting);
  for (let other = 2; other < 20; other += 1) {
    keysOf(listed, ['[1]']);
    keysOf(listed, [`[${other}]`]);
  }
  assert.equal(reads, 1);
});

function openEmpty(context: { after(end: () => void): void }): Database {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-keys-'));
  const database = openDatabase({ path: join(folder, 'carrel.db'), role: 'writer', busyTimeoutMs: 1000 });
  context.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}
