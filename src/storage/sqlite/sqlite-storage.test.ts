import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/backends.ts';
import { createSqliteStorage } from './sqlite-storage.ts';

test("runs background reads on the writer's thread", async () => {
  const storage = await createSqliteStorage({ path: join(temporaryFolder(), 'test.db') });
  const { vectors, ingestion, entries } = storage;
  await ingestion.owners();
  await vectors.kb.models();
  await vectors.kb.state({ model: 'none' });
  await entries.unsummarised({ limit: 1 });
  assert.deepEqual(storage.connections(), { backend: 'sqlite', opened: 1, broken: 0 });
  // A caller that can give up does not wait for writes.
  await vectors.kb.state({ model: 'none' }, { signal: new AbortController().signal });
  assert.deepEqual(storage.connections(), { backend: 'sqlite', opened: 2, broken: 0 });
  await storage.close();
});
