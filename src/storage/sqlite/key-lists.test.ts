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
  const read = (keys: readonly number[]) => [...keysOf({ sql: listed, values: [{ list: keys }] })];
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
  const read = () => [...keysOf({ sql: 'SELECT key FROM kept', values: [] })];
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
    keysOf({ sql: listed, values: ['[1]'] });
    keysOf({ sql: listed, values: [`[${other}]`] });
  }
  assert.equal(reads, 1);
});

test('lists of other values are other lists, however their texts would look when joined', (context) => {
  const keysOf = createKeyLists(openEmpty(context));
  // How many values a list has is not told by the statement.
  const counted = (...values: (string | number)[]) => [
    ...keysOf({ sql: `SELECT length(?) * 10 + length(?) AS key`, values }),
  ];
  assert.deepEqual(counted('a\nb', 'c'), [31]);
  assert.deepEqual(counted('a', 'b\nc'), [13]);
  const typed = (value: string | number) => [
    ...keysOf({ sql: `SELECT CASE typeof(?) WHEN 'text' THEN 1 ELSE 2 END AS key`, values: [value] }),
  ];
  assert.deepEqual([typed('5'), typed(5)], [[1], [2]]);
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
