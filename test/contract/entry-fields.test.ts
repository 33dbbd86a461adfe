import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, test } from 'node:test';
import type { EntryStore, IndexFieldsRequest } from '../../src/storage/contracts/entries.ts';
import { createConnections } from '../../src/storage/postgres/connections.ts';
import { migrate as migratePostgres } from '../../src/storage/postgres/migrate.ts';
import { migrations as postgresMigrations } from '../../src/storage/postgres/migrations.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { migrate as migrateSqlite } from '../../src/storage/sqlite/migrate.ts';
import { migrations as sqliteMigrations } from '../../src/storage/sqlite/migrations.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { EntryFilter } from '../../src/storage/stores/entries/entry-filter.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { createTestDatabase, postgresObstacle, startPostgres } from '../support/postgres.ts';

const is = (path: string[], value: string | number): EntryFilter => ({
  metadata: [{ path, operator: 'eq', value, caseSensitive: false }],
});

onEachBackend('upstreams 1.16: the index of metadata', (backend) => {
  let entries: EntryStore;
  before(async () => {
    ({ entries } = await backend.open());
  });
  const isIndexed = async (path: string[]) => {
    const request = { filter: is(path, 'v7'), limit: 5, offset: 0, images: false, explain: true };
    const { entries: found, plan = '' } = await entries.list(request);
    assert.equal(found.length, 1, path.join('.'));
    assert.equal(/context_fields/.test(plan), !/not indexed/.test(plan), plan);
    return !/not indexed/.test(plan);
  };
  const index = (mode: IndexFieldsRequest['mode'], ...fields: string[]) => entries.indexFields({ fields, mode });

  test('a condition that holds for many is tested entry by entry, one that holds for few is listed', async () => {
    const { entries: many } = await backend.open();
    await many.indexFields({ fields: ['status'], mode: 'auto' });
    await many.store({
      entries: Array.from({ length: 700 }, (_, number) => ({
        ...{ threadId: 't', source: 'user' as const, text: `entry ${number}`, images: [], summary: undefined },
        metadata: { status: number % 100 === 0 ? 'rare' : 'common' },
        tags: [number % 100 === 0 ? 'few' : 'often'],
      })),
    });
    const planOf = async (filter: EntryFilter) => {
      const { entries: found, plan } = await many.list({ filter, limit: 5, offset: 0, images: false, explain: true });
      assert.equal(found.length, 5);
      return plan ?? '';
    };
    for (const filter of [is(['status'], 'common'), { tags: ['often'] }]) {
      assert.match(await planOf(filter), /SubPlan|CORRELATED/, JSON.stringify(filter));
    }
    for (const filter of [is(['status'], 'rare'), { tags: ['few'] }]) {
      assert.doesNotMatch(await planOf(filter), /SubPlan|CORRELATED/, JSON.stringify(filter));
    }
  });

  test('an empty store takes what is wanted; later the mode decides', async () => {
    assert.deepEqual(await index('strict', 'a', 'b'), { missing: [], extra: [] });
    await entries.store({
      entries: Array.from({ length: 300 }, (_, number) => ({
        ...{
          threadId: 't',
          source: 'user' as const,
          text: `entry ${number}`,
          tags: [],
          images: [],
          summary: undefined,
        },
        metadata: { a: `v${number}`, b: `v${number}`, c: { d: `v${number}` } },
      })),
    });
    assert.deepEqual([await isIndexed(['a']), await isIndexed(['c', 'd'])], [true, false]);
    assert.deepEqual(await index('strict', 'a', 'c:object'), { missing: ['c:object'], extra: ['b'] });
    assert.deepEqual(await index('warn', 'a', 'c:object'), { missing: ['c:object'], extra: ['b'] });
    assert.equal(await isIndexed(['c', 'd']), false);
    assert.deepEqual(await index('additive', 'a', 'c:object'), { missing: [], extra: ['b'] });
    assert.deepEqual([await isIndexed(['c', 'd']), await isIndexed(['b'])], [true, true]);
    assert.deepEqual(await index('auto', 'a', 'c.d'), { missing: [], extra: [] });
    assert.deepEqual(
      [await isIndexed(['a']), await isIndexed(['b']), await isIndexed(['c', 'd'])],
      [true, false, true],
    );
    assert.deepEqual(await index('strict', 'c.d', 'a'), { missing: [], extra: [] });
  });

  test('writes keep to the index that there is', async () => {
    const [stored] = await entries.store({
      entries: [
        {
          ...{ threadId: 'w', source: 'user', text: 'w', tags: [], images: [], summary: undefined },
          metadata: { a: 'w1', b: 'w1', c: { d: 'w1' } },
        },
      ],
    });
    const id = stored?.id ?? 0;
    for (const path of [['a'], ['b'], ['c', 'd']]) assert.deepEqual(await entries.matching(is(path, 'W1')), [id]);
    await entries.update({ updates: [{ id, metadataPatch: { c: { d: 'w2' }, b: 'w2' } }], allOrNothing: true });
    for (const path of [['b'], ['c', 'd']]) {
      assert.deepEqual(await entries.matching(is(path, 'w1')), []);
      assert.deepEqual(await entries.matching(is(path, 'w2')), [id]);
    }
  });
});

/** As a database of the third release has them: every field in the index. */
const former = (schema: string) => `
  INSERT INTO ${schema}context_entries (thread_id, source, content_type, text_content, text_hash, metadata, created_at,
    updated_at) VALUES
    ('t', 'user', 'text', 'one', '${'0'.repeat(64)}', '{"status":"open","size":3,"references":{"x":{"y":"z"}}}',
     '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'),
    ('t', 'agent', 'multimodal', 'two', '${'1'.repeat(64)}', NULL, '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z');
  INSERT INTO ${schema}context_fields (entry, path, member, kind, head, folded, exact, number) VALUES
    (1, '["status"]', 0, 'string', 'open', 'open', NULL, NULL), (1, '["size"]', 0, 'number', '', '', NULL, 3),
    (1, '["references"]', 0, 'object', '', '', NULL, NULL), (1, '["references","x"]', 0, 'object', '', '', NULL, NULL),
    (1, '["references","x","y"]', 0, 'string', 'z', 'z', NULL, NULL);`;

async function checkMigrated(entries: EntryStore): Promise<void> {
  for (const filter of [is(['status'], 'OPEN'), is(['size'], 3), is(['references', 'x', 'y'], 'z')]) {
    assert.deepEqual(await entries.matching(filter), [1], JSON.stringify(filter));
  }
  const { threads } = await entries.threads({ limit: undefined, offset: 0 });
  assert.deepEqual(threads, [
    {
      ...{ threadId: 't', entries: 2, sources: 2, multimodal: 1, lastId: 2 },
      ...{ firstEntry: '2026-01-01T00:00:00.000Z', lastEntry: '2026-01-02T00:00:00.000Z' },
    },
  ]);
  const asOf = '2026-01-02T12:00:00.000Z';
  const page = await entries.list({ filter: { asOf }, limit: 5, offset: 0, images: false, explain: false });
  assert.deepEqual(
    page.entries.map(({ id }) => id),
    [1],
    'what the second was before its update nobody knows',
  );
  assert.equal((await entries.pastGaps({ asOf })).unknown, 1);
  await entries.remove({ ids: [2], dryRun: false });
  assert.equal((await entries.statistics({ model: undefined })).total, 1);
}

test('a SQLite file of the third release keeps its entries, and the index what is configured', async () => {
  const path = join(temporaryFolder(), 'third.db');
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
  migrateSqlite(database, sqliteMigrations.slice(0, 3));
  database.exec(former(''));
  database.close();
  const storage = await createSqliteStorage({ path });
  await checkMigrated(storage.entries);
  await storage.close();
  const file = new DatabaseSync(path, { readOnly: true });
  assert.equal(file.prepare('SELECT count(*) AS rows FROM context_fields').get()?.['rows'], 4);
  file.close();
});

test('so does a PostgreSQL database', { skip: postgresObstacle() ?? false }, async () => {
  const server = await startPostgres();
  assert.ok(typeof server !== 'string');
  const { url, drop } = await createTestDatabase(server);
  const connections = createConnections({ url });
  await migratePostgres(connections, postgresMigrations.slice(0, 3));
  await connections.write((statements) => statements.query(former('carrel.')));
  await connections.close();
  const storage = await createPostgresStorage({ url });
  await checkMigrated(storage.entries);
  await storage.close();
  await drop();
  await server.stop();
});
