import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Notice, SharedStore } from '../../src/base/shared-store.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { inspectStorage } from '../../src/storage/inspect-storage.ts';
import { openStorage, type StoragePlace } from '../../src/storage/open-storage.ts';
import { createConnections } from '../../src/storage/postgres/connections.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { migrations } from '../../src/storage/postgres/migrations.ts';
import { pause } from '../support/pause.ts';
import { createTestDatabase, type PostgresServer, serverObstacle, startRealPostgres } from '../support/postgres.ts';

const obstacle = serverObstacle();
const minuteMs = 60_000;

describe('processes on one PostgreSQL', { skip: obstacle ?? false, timeout: 120_000 }, () => {
  let server: PostgresServer;
  const cleanUps: (() => Promise<void>)[] = [];
  const opened = async (place: StoragePlace): Promise<Storage> => {
    const storage = await openStorage(place);
    cleanUps.push(() => storage.close());
    return storage;
  };
  const newPlace = async (): Promise<StoragePlace & { url: string }> => {
    const { url, drop } = await createTestDatabase(server);
    cleanUps.push(drop);
    return { backend: 'postgres', url };
  };
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    cleanUps.push(() => started.stop());
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  describe('what they keep in common for a while', () => {
    let one: SharedStore;
    let two: SharedStore;
    before(async () => {
      const place = await newPlace();
      const [first, second] = [(await opened(place)).shared, (await opened(place)).shared];
      assert.ok(first && second);
      [one, two] = [first, second];
    });

    test('of several who add a part one succeeds, and what has expired can be added again', async () => {
      const part = { kind: 'k', id: 'a', part: 3 };
      const added = await Promise.all(
        [one, two, one, two, one].map((store, n) => store.add(part, Buffer.from(`by ${n}`), minuteMs)),
      );
      assert.equal(added.filter(Boolean).length, 1);
      assert.equal(String(await two.read(part)), `by ${added.indexOf(true)}`);
      await one.put(part, Buffer.from('changed'), 1);
      while ((await two.read(part)) !== undefined) await pause(5);
      assert.deepEqual(await one.list({ kind: 'k' }), []);
      assert.equal(await two.add(part, Buffer.from('again'), minuteMs), true);
      await one.remove({ kind: 'k', id: 'a' });
      assert.equal(await two.read(part), undefined);
    });

    test('a stream is seen when all of it is there, once, and nothing is left of one that broke off', async () => {
      const part = { kind: 'stream', id: 'a', part: 0 };
      const bytes = randomBytes(2_500_000);
      const half = Promise.withResolvers<void>();
      async function* slowly() {
        yield bytes.subarray(0, 1_500_000);
        await half.promise;
        yield bytes.subarray(1_500_000);
      }
      const adding = one.addStream(part, slowly(), minuteMs);
      assert.deepEqual(await two.list({ kind: 'stream' }), []);
      half.resolve();
      assert.equal(await adding, bytes.length);
      assert.deepEqual(await two.list({ kind: 'stream', ids: ['a', 'b'] }), [
        { id: 'a', part: 0, bytes: bytes.length },
      ]);
      const pieces: Uint8Array[] = [];
      for await (const piece of two.stream(part)) pieces.push(piece);
      assert.ok(pieces.length > 1 && Buffer.concat(pieces).equals(bytes));
      assert.equal(await two.addStream(part, [bytes.subarray(0, 9)], minuteMs), undefined);
      assert.ok((await one.read(part))?.equals(bytes));
      async function* broken() {
        yield bytes;
        throw new Error('gone');
      }
      await assert.rejects(one.addStream({ ...part, id: 'b' }, broken(), minuteMs), /gone/);
      assert.equal(await two.addStream({ ...part, id: 'b' }, [], minuteMs), 0);
    });

    test('calls are counted for all of them, and a refused one is not', async () => {
      const request = { key: 'me', limit: 5, windowMs: minuteMs };
      const taken = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? one : two).take(request)));
      assert.equal(taken.filter(({ ok }) => ok).length, 5);
      const refused = await one.take(request);
      assert.ok(!refused.ok && refused.retryAfterMs > 0 && refused.retryAfterMs <= minuteMs);
      assert.ok((await two.take({ ...request, key: 'you' })).ok);
      const short = { key: 'short', limit: 1, windowMs: 50 };
      assert.ok((await one.take(short)).ok);
      while (!(await two.take(short)).ok) await pause(10);
    });

    test('one key for all, also if they ask for the first time at once', async () => {
      const keys = await Promise.all([one, two, one, two].map((store) => store.signingKey()));
      assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
      assert.equal(keys[0]?.length, 32);
    });

    test('the others are told, and go on being told after the connection is lost', async () => {
      const told: Notice[] = [];
      const stop = two.onNotice((notice) => void told.push(notice));
      const tellUntilHeard = async (id: string): Promise<void> => {
        while (!told.some((notice) => 'id' in notice && notice.id === id)) {
          one.tell({ about: 'task', id });
          two.tell({ about: 'task', id: 'own' });
          await pause(20);
        }
      };
      await tellUntilHeard('first');
      const admin = createConnections({ url: server.url });
      const [{ killed } = {}] = await admin.read((statements) =>
        statements.query(
          `SELECT count(pg_terminate_backend(pid))::int AS killed FROM pg_stat_activity
           WHERE application_name = 'carrel notices'`,
        ),
      );
      await admin.close();
      assert.equal(killed, 1);
      await tellUntilHeard('second');
      stop();
      assert.ok(!told.some((notice) => 'id' in notice && notice.id === 'own'));
    });
  });

  describe('of different versions (a rolling upgrade)', () => {
    const usable = 'UPDATE carrel.schema_version SET usable_from = 4';
    const expand = `ALTER TABLE carrel.notes ADD COLUMN added_later text; ${usable}`;
    const contract = 'ALTER TABLE carrel.notes DROP COLUMN added_later';

    test('one step is made once by all that start, while an older one reads and writes', async () => {
      const place = await newPlace();
      const older = await opened(place);
      const starting = Array.from({ length: 4 }, () => createConnections({ url: place.url }));
      const newer = Promise.all(starting.map((connections) => migrate(connections, [...migrations, expand])));
      const saved = [];
      for (let n = 0; n < 20; n += 1) {
        saved.push((await older.notes.save({ title: `Note ${n}`, content: 'heron', tags: [], sourceUrls: [] })).id);
      }
      await newer;
      for (const connections of starting) await connections.close();
      const { notes } = await older.notes.list({ query: 'heron', limit: 50, offset: 0 });
      assert.deepEqual(new Set(notes.map(({ id }) => id)), new Set(saved));
      // Restarted in the middle of the upgrade, it goes on with what a later version has only added to.
      assert.equal((await inspectStorage(place)).schema, migrations.length + 1);
      const restarted = await opened(place);
      assert.equal((await restarted.notes.list({ query: 'heron', limit: 50, offset: 0 })).total, 20);
    });

    test('one that cannot work with a later schema says so, and changes nothing', async () => {
      const place = await newPlace();
      const newer = createConnections({ url: place.url });
      await migrate(newer, [...migrations, expand, contract]);
      await assert.rejects(openStorage(place), { code: 'storage_newer' });
      await assert.rejects(inspectStorage(place), { code: 'storage_newer' });
      const [row] = await newer.read((statements) => statements.query('SELECT version FROM carrel.schema_version'));
      assert.equal(row?.['version'], migrations.length + 2);
      await newer.close();
    });
  });
});
