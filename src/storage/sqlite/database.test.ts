import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { openDatabase } from './database.ts';

test('a snapshot reports the first error, even if that error ended its transaction', async () => {
  const path = join(makeFolder({ after }), 'test.db');
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
  const failure = new Error('disk I/O error');
  const read = database.readSnapshot(() => {
    database.exec('ROLLBACK');
    throw failure;
  });
  await assert.rejects(read, failure);
  assert.deepEqual({ ...(await database.readSnapshot(async () => database.get('SELECT 1 AS one'))) }, { one: 1 });
  database.close();
});
