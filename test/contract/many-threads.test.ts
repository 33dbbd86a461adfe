import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { pause } from '../support/pause.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../support/postgres.ts';

/** More than PostgreSQL's lock table holds. */
const tooMany = 12_000;

/** More than the number of thread locks. */
const many = 501;

const old = { createdAt: '2020-01-01T00:00:00.000Z', updatedAt: '2020-01-01T00:00:00.000Z' };

describe('calls on more threads than PostgreSQL has locks', {
  skip: serverObstacle() ?? false,
  timeout: 120_000,
}, () => {
  let storage: Storage;
  const cleanUps: (() => Promise<unknown>)[] = [];
  let client: Client;

  before(async () => {
    const server = await startRealPostgres();
    assert.ok(typeof server !== 'string', String(server));
    cleanUps.push(() => server.stop());
    const { url, drop } = await createTestDatabase(server);
    cleanUps.push(drop);
    storage = await openStorage({ backend: 'postgres', url });
    cleanUps.push(() => storage.close());
    client = new Client({ connectionString: url });
    await client.connect();
    cleanUps.push(() => client.end());
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  /** Writes an old entry in each of many threads, as storing would. */
  const fill = async (threads: number): Promise<void> => {
    await client.query(
      `INSERT INTO carrel.context_entries (thread_id, source, content_type, text_content, text_hash, summary_due,
         created_at, updated_at)
       SELECT 'many ' || n, 'user', 'text', 'x', repeat('0', 64), 0, $1, $1 FROM generate_series(1, $2::integer) n`,
      [old.createdAt, threads],
    );
  };
  const entry = (threadId: string, text: string, more: Partial<NewEntry> = {}): NewEntry => ({
    ...{ threadId, text, source: 'user', metadata: undefined, tags: [], images: [], summary: undefined },
    ...more,
  });
  const removeOld = () => storage.entries.remove({ olderThanDays: 30, dryRun: false });
  const counted = async () => {
    const { threads } = await storage.entries.threads({ limit: 10, offset: 0 });
    return Object.fromEntries(threads.map(({ threadId, entries }) => [threadId, entries]));
  };
  /** Waits until `count` connections to this database wait for a lock. */
  const waiting = async (count: number): Promise<void> => {
    const blocked = `SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (
      SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
    while (((await client.query(blocked)).rowCount ?? 0) < count) await pause(5);
  };

  test('002 delete_context_batch, restore_context: works with the maximum number of threads', async () => {
    // PostgreSQL keeps a trigger's plan for few rows.
    await storage.entries.store({ entries: [entry('few', 'heron', old)] });
    assert.equal((await removeOld()).count, 1);
    await fill(tooMany);
    assert.equal((await removeOld()).count, tooMany);
    assert.deepEqual(await counted(), {});
    const { rows } = await client.query(
      'SELECT key FROM carrel.context_entries WHERE deleted_at IS NOT NULL ORDER BY key',
    );
    const ids = rows.map(({ key }) => Number(key));
    assert.equal((await storage.entries.restore({ ids: ids.slice(-many) })).ids.length, many);
    assert.equal((await storage.entries.threads({ limit: 1, offset: 0 })).total, many);
    assert.equal((await removeOld()).count, many);
  });

  test('002 delete_context: old deletions are purged in parts, oldest first, without slowing it', async () => {
    const left = async () => Number((await client.query('SELECT count(*) FROM carrel.context_entries')).rows[0].count);
    await client.query(
      `UPDATE carrel.context_entries SET deleted_at = '2020-01-0' || (key % 2 + 2) || 'T00:00:00.000Z'`,
    );
    const before = await left();
    await removeOld();
    assert.equal(before - (await left()), 10_000);
    const { rows } = await client.query('SELECT min(deleted_at) AS oldest FROM carrel.context_entries');
    assert.match(rows[0].oldest, /^2020-01-03/);
    await removeOld();
    assert.equal(await left(), 0);
  });

  test('002 store_context: an entry that repeats a just deleted one is not lost', async () => {
    await fill(many);
    const [first] = await storage.entries.store({ entries: [entry('said again', 'heron', old)] });
    await client.query("BEGIN; SELECT 1 FROM carrel.context_entries WHERE thread_id = 'said again' FOR UPDATE");
    const removing = removeOld();
    await waiting(1);
    const storing = storage.entries.store({ entries: [entry('said again', 'heron')] });
    await waiting(2);
    await client.query('COMMIT');
    assert.equal((await removing).count, many + 1);
    const [again] = await storing;
    assert.deepEqual([again?.repeated, again?.id === first?.id], [false, false]);
    const [kept] = await storage.entries.get({ ids: [again?.id ?? 0], images: false });
    assert.equal(kept?.text, 'heron');
    assert.deepEqual(await counted(), { 'said again': 1 });
    await storage.entries.remove({ threadIds: ['said again'], dryRun: false });
  });

  test('002 get_statistics: an image added twice concurrently counts once', async () => {
    const images = [{ data: Buffer.from('png'), mimeType: 'image/png', metadata: undefined }];
    const [{ id } = { id: 0 }] = await storage.entries.store({ entries: [entry('pictured', 'heron')] });
    await client.query(`BEGIN; SELECT 1 FROM carrel.context_entries WHERE key = ${id} FOR UPDATE`);
    const updating = storage.entries.update({ updates: [{ id, images }], allOrNothing: false });
    await waiting(1);
    const storing = storage.entries.store({ entries: [entry('pictured', 'heron', { images })] });
    await waiting(2);
    await client.query('COMMIT');
    await updating;
    assert.deepEqual((await storing)[0]?.repeated, true);
    const { threads } = await storage.entries.threads({ limit: 1, offset: 0, containing: 'pictured' });
    assert.equal(threads[0]?.multimodal, 1);
    await storage.entries.remove({ threadIds: ['pictured'], dryRun: false });
  });
});
