import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { openDatabase } from './database.ts';
import { checkContent } from './inspect.ts';
import { createSqliteStorage } from './sqlite-storage.ts';
import { storageError } from './storage-error.ts';

test('docs/troubleshooting.md: does not report damage if a check cannot run', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'carrel.db');
  const storage = await createSqliteStorage({ path });
  await storage.notes.save({ title: 'a', content: 'lantern', tags: [], sourceUrls: [] });
  await storage.close();
  const open = () => openDatabase({ path, role: 'writer', busyTimeoutMs: 0 });
  const [database, other] = [open(), open()];
  t.after(() => {
    for (const each of [database, other]) each.close();
  });
  const refused = () => {
    try {
      return checkContent(database);
    } catch (error) {
      return Reflect.get(Object(storageError(error)), 'code');
    }
  };
  other.exec('BEGIN IMMEDIATE');
  assert.equal(refused(), 'storage_busy');
  other.exec('ROLLBACK');
  database.exec('PRAGMA query_only = ON');
  assert.equal(refused(), 'storage_read_only');
  database.exec('PRAGMA query_only = OFF');
  assert.deepEqual(checkContent(database), []);
  database.exec("INSERT INTO note_words (note_words) VALUES ('delete-all')");
  assert.match(String(checkContent(database)), /index note_words does not match/);
});
