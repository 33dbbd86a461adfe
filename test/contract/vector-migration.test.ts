import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { createConnections } from '../../src/storage/postgres/connections.ts';
import { migrate as migratePostgres } from '../../src/storage/postgres/migrate.ts';
import { migrations as postgresMigrations } from '../../src/storage/postgres/migrations.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { migrate as migrateSqlite } from '../../src/storage/sqlite/migrate.ts';
import { migrations as sqliteMigrations } from '../../src/storage/sqlite/migrations.ts';
import { temporaryFolder } from '../support/backends.ts';
import { createTestDatabase, postgresObstacle, startPostgres } from '../support/postgres.ts';

/** Schema 3 had one model for each entry, whose vectors were bytes in both databases. */
const schemaBefore = 3;
const hash = 'f'.repeat(64);
const time = '2026-01-01T00:00:00.000Z';
const numbers = Float32Array.from([1, -0.333333, 1.17e-40, 3.4e38, 0, -2]);
const entries = ['embedded', 'waits', 'removed', 'embedded by another'];

function inserts(schema: string): { sql: string; values: (string | number | null | Uint8Array)[] }[] {
  const rows = entries.map((text) => ({
    sql: `INSERT INTO ${schema}context_entries (thread_id, source, content_type, text_content, text_hash, created_at,
      updated_at, deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    values: ['thread', 'user', 'text', text, hash, time, time, text === 'removed' ? time : null],
  }));
  const vectors = [
    { entry: 1, model: 'old' },
    { entry: 4, model: 'new' },
  ];
  return [
    ...rows,
    ...vectors.flatMap(({ entry, model }) => [
      { sql: `INSERT INTO ${schema}context_embeddings (entry, model) VALUES (?, ?)`, values: [entry, model] },
      {
        sql: `INSERT INTO ${schema}context_vectors (entry, model, start_at, end_at, vector) VALUES (?, ?, ?, ?, ?)`,
        values: [entry, model, 0, 8, new Uint8Array(numbers.buffer)],
      },
    ]),
  ];
}

async function assertKept(storage: Storage): Promise<void> {
  const { context } = storage.vectors;
  assert.deepEqual(
    (await context.models()).map(({ index: _, ...model }) => model),
    [
      { model: 'old', dimensions: 6, vectors: 1, pending: 2 },
      { model: 'new', dimensions: 6, vectors: 1, pending: 2 },
    ],
  );
  const { lastKey } = await context.state({ model: 'old' });
  for (const [place, component] of numbers.entries()) {
    const query = new Float32Array(numbers.length);
    query[place] = 1;
    const [stored] = await context.score({ query, keys: [lastKey] });
    assert.deepEqual([stored?.owner, stored?.start, stored?.end, stored?.score], [1, 0, 8, component]);
  }
  const waiting = await context.waiting({ model: 'new', limit: 9 });
  assert.deepEqual(
    waiting.map(({ owner, text }) => [owner, text]),
    [
      [1, 'embedded'],
      [2, 'waits'],
    ],
  );
}

describe('vectors of an earlier release are kept', () => {
  const folder = temporaryFolder();

  test('on SQLite', async () => {
    const path = join(folder, 'before.db');
    const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
    migrateSqlite(database, sqliteMigrations.slice(0, schemaBefore));
    for (const { sql, values } of inserts('')) database.run(sql, ...values);
    database.close();
    const storage = await openStorage({ backend: 'sqlite', path });
    await assertKept(storage);
    assert.deepEqual(await storage.check(), []);
    await storage.close();
  });

  const obstacle = postgresObstacle();
  test('on PostgreSQL', { skip: obstacle ?? false }, async () => {
    const server = await startPostgres();
    assert.ok(typeof server !== 'string', String(server));
    after(() => server.stop());
    const { url } = await createTestDatabase(server);
    const connections = createConnections({ url });
    await migratePostgres(connections, postgresMigrations.slice(0, schemaBefore));
    await connections.write(async (statements) => {
      for (const { sql, values } of inserts('carrel.')) {
        let count = 0;
        const numbered = sql.replaceAll('?', () => `$${++count}`);
        await statements.query(
          numbered,
          values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
        );
      }
    });
    await connections.close();
    const storage = await openStorage({ backend: 'postgres', url });
    await assertKept(storage);
    await storage.close();
  });
});
