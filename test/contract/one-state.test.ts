import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Operation } from '../../src/storage/dialect.ts';
import { loadEntries } from '../../src/storage/entries/read-entries.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { createPostgresDialect } from '../../src/storage/postgres/dialect.ts';
import { withQuestionMarks } from '../../src/storage/postgres/postgres-storage.ts';
import { createTokenizer } from '../../src/storage/postgres/words/tokenizer.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { createLocalTransactions, createSqliteDialect } from '../../src/storage/sqlite/dialect.ts';
import { onEachBackend } from '../support/backends.ts';

type Read = <Request, Answer>(operation: Operation<Request, Answer>, request: Request) => Promise<Answer>;

onEachBackend(
  'a read',
  (backend) => {
    test('sees one state in all its statements, despite concurrent writes', async (t) => {
      const location = await backend.newLocation();
      const { entries, close } = await openStorage(location);
      t.after(close);
      const common = { threadId: 'thread', source: 'user', tags: [], images: [] } as const;
      const texts = ['long '.repeat(100), 'short'];
      const stored = await entries.store({
        entries: texts.map((text) => ({ ...common, text, metadata: undefined, summary: undefined })),
      });
      const ids = stored.map(({ id }) => id);
      const left = [...ids];
      const loaded = await readOn(t, location)(
        (on, request: Parameters<typeof loadEntries>[1]) =>
          loadEntries(
            {
              ...on,
              query: async (...statement) => {
                const rows = await on.query(...statement);
                await entries.remove({ ids: left.splice(0, 1), dryRun: false });
                return rows;
              },
            },
            request,
          ),
        { ids, images: false, order: 'requested', bytesMax: 600 },
      );
      assert.deepEqual(
        loaded.entries.map(({ text }) => text),
        texts,
      );
      assert.deepEqual(left, [], 'both were removed between two statements');
      assert.deepEqual(await entries.get({ ids, images: false }), []);
    });
  },
  'server',
);

/** Performs the test's own operations, which a thread would not know, on a second connection. */
function readOn(t: TestContext, location: StorageLocation): Read {
  if (location.backend === 'sqlite') {
    const database = openDatabase({ path: location.path, role: 'reader', busyTimeoutMs: 5000 });
    t.after(() => database.close());
    const { read } = createLocalTransactions(database, createSqliteDialect(database, { documentsDir: '' }));
    return (operation, request) => read(operation, request, new Date().toISOString());
  }
  const connections = createConnections(location);
  t.after(() => connections.close());
  const dialect = createPostgresDialect(createTokenizer(), undefined);
  return (operation, request) =>
    connections.read((connection) =>
      operation({ dialect, now: new Date().toISOString(), ...withQuestionMarks(connection) }, request),
    );
}
