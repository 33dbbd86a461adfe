import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { silentLogger } from '../../src/base/log.ts';
import { type Notice, type SharedStore, withLease } from '../../src/base/shared-store.ts';
import { createTasks } from '../../src/jobs/tasks.ts';
import type { SummaryProvider } from '../../src/search/models/summary-provider.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createEntrySummaries } from '../../src/toolsets/context/write/entry-summaries.ts';
import { extractiveSummaries } from '../../src/toolsets/context/write/summarise.ts';
import { createSharedStaging } from '../../src/toolsets/kb/uploads/shared-staging.ts';
import { pause } from '../support/pause.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../support/postgres.ts';

const obstacle = serverObstacle();
const minuteMs = 60_000;

describe('processes on one PostgreSQL', { skip: obstacle ?? false }, () => {
  let url: string;
  /** The storages of two processes. */
  let storages: [Storage, Storage];
  let one: SharedStore;
  let two: SharedStore;
  const cleanUps: (() => Promise<void>)[] = [];
  const opened = async (): Promise<Storage> => {
    const storage = await openStorage({ backend: 'postgres', url });
    cleanUps.push(() => storage.close());
    return storage;
  };
  before(async () => {
    const server = await startRealPostgres();
    assert.ok(typeof server !== 'string', String(server));
    cleanUps.push(() => server.stop());
    const database = await createTestDatabase(server);
    cleanUps.push(database.drop);
    url = database.url;
    storages = [await opened(), await opened()];
    const [first, second] = storages.map(({ shared }) => shared);
    assert.ok(first && second);
    [one, two] = [first, second];
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  describe('temporary shared state', () => {
    test('only one of several processes adds a part; an expired part can be added again', async () => {
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

    test("a dead holder's upload lease expires soon, even if the upload lives longer", async () => {
      const staging = createSharedStaging(one, { idleMs: 10 * minuteMs });
      const { signal } = new AbortController();
      const expiries = async (): Promise<number[]> => {
        const client = new Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query(
          `SELECT expires_at - extract(epoch FROM clock_timestamp()) * 1000 AS left FROM carrel.shared_parts
           WHERE kind = 'upload handed over' AND id = 'lease'`,
        );
        await client.end();
        return rows.map(({ left }) => Number(left));
      };
      await staging.shared?.exclusively('lease', signal, async () => {
        await staging.touch('lease');
        const [left = 0] = await expiries();
        assert.ok(left > 0 && left <= minuteMs, `${left} ms`);
      });
      assert.deepEqual(await expiries(), []);
    });

    test('a stream becomes visible once, when complete, and an aborted one leaves nothing', async () => {
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

    test('an id with an unstorable character is unknown', async () => {
      const item = { kind: 'k', id: 'a\0b' };
      assert.equal(await one.read({ ...item, part: 0 }), undefined);
      assert.deepEqual(await one.list({ kind: 'k', ids: [item.id] }), []);
      for await (const piece of one.stream({ ...item, part: 0 })) assert.fail(`${piece.length} bytes`);
      await one.touch(item, minuteMs);
      await one.remove(item);
      assert.ok((await one.countCall({ key: item.id, limit: 1, windowMs: minuteMs })).ok);
    });

    test('counts calls across processes, except rejected ones', async () => {
      const request = { key: 'me', limit: 5, windowMs: minuteMs };
      const counted = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? one : two).countCall(request)));
      assert.equal(counted.filter(({ ok }) => ok).length, 5);
      const refused = await one.countCall(request);
      assert.ok(!refused.ok && refused.retryAfterMs > 0 && refused.retryAfterMs <= minuteMs);
      assert.ok((await two.countCall({ ...request, key: 'you' })).ok);
      const short = { key: 'short', limit: 1, windowMs: 50 };
      assert.ok((await one.countCall(short)).ok);
      while (!(await two.countCall(short)).ok) await pause(10);
    });

    test('all processes get the same key, even if created concurrently', async () => {
      const keys = await Promise.all([one, two, one, two].map((store) => store.signingKey()));
      assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
      assert.equal(keys[0]?.length, 32);
    });

    test('notifies other processes, also after a lost connection', async () => {
      const notices: Notice[] = [];
      const stop = two.onNotice((notice) => void notices.push(notice));
      const notifyUntilHeard = async (id: string): Promise<void> => {
        while (!notices.some((notice) => 'id' in notice && notice.id === id)) {
          one.notify({ about: 'task', id });
          two.notify({ about: 'task', id: 'own' });
          await pause(20);
        }
      };
      await notifyUntilHeard('first');
      const admin = createConnections({ url });
      const [{ killed } = {}] = await admin.read((statements) =>
        statements.query(
          `SELECT count(pg_terminate_backend(pid))::int AS killed FROM pg_stat_activity
           WHERE application_name = 'carrel notices' AND datname = current_database()`,
        ),
      );
      await admin.close();
      assert.equal(killed, 1);
      await notifyUntilHeard('second');
      stop();
      assert.ok(!notices.some((notice) => 'id' in notice && notice.id === 'own'));
    });
  });

  for (const heard of [true, false]) {
    const how = heard ? '' : ', and by looking where no notices come (PgBouncer in transaction mode)';
    test(`another process can show, answer and cancel a task${how}`, async () => {
      const stores = [one, two].map((shared) => (heard ? shared : { ...shared, onNotice: () => () => {} }));
      const [own, other] = stores.map((shared) => createTasks({ folder: '', shared, log: silentLogger }));
      assert.ok(own && other);
      const stopped = Promise.withResolvers<void>();
      const task = await own.start({ owner: 'me', tool: 'dig', cancel: () => stopped.resolve() });
      assert.ok(task);
      const seen = async () => (await other.get(task.id, 'me')).view;
      await assert.rejects(other.get(task.id, 'you'), { code: 'task_not_found' });
      assert.equal((await seen()).status, 'working');
      task.report('digging');
      while ((await seen()).statusMessage !== 'digging') await pause(20);

      const answered = task.ask({ depth: { method: 'elicitation/create' } });
      while ((await seen()).status !== 'input_required') await pause(20);
      const [key = ''] = Object.keys((await seen()).inputRequests ?? {});
      await other.answer(task.id, 'me', { [key]: 'deep', unknown: 'ignored' });
      // The first answer counts.
      await other.answer(task.id, 'me', { [key]: 'shallow' });
      assert.deepEqual(await answered, { depth: 'deep' });
      while ((await seen()).status !== 'working') await pause(20);

      await other.cancel(task.id, 'me');
      await stopped.promise;
      await task.end({ status: 'completed', result: {} });
      for (const tasks of [own, other]) assert.equal((await tasks.get(task.id, 'me')).view.status, 'cancelled');
      for (const tasks of [own, other]) await tasks.close();
    });
  }

  test('the end of a task reaches other processes once the database accepts it', async () => {
    let isAway = false;
    const add: SharedStore['add'] = async (...given) => {
      if (isAway) throw new Error('away');
      return one.add(...given);
    };
    const own = createTasks({ folder: '', shared: { ...one, add }, log: silentLogger });
    const other = createTasks({ folder: '', shared: two, log: silentLogger });
    const task = await own.start({ owner: 'me', tool: 'dig', cancel() {} });
    isAway = true;
    await task?.end({ status: 'completed', result: { gold: true } });
    assert.equal((await other.get(task?.id, 'me')).view.status, 'working');
    isAway = false;
    while ((await other.get(task?.id, 'me')).view.status === 'working') await pause(50);
    assert.deepEqual((await other.get(task?.id, 'me')).view.result, { gold: true });
    for (const tasks of [own, other]) await tasks.close();
  });

  test('a stopping process leaves its tasks interrupted, not running', async () => {
    const [own, other] = [one, two].map((shared) => createTasks({ folder: '', shared, log: silentLogger }));
    const task = await own?.start({ owner: 'me', tool: 'dig', cancel() {} });
    await own?.close();
    const found = await other?.get(task?.id, 'me');
    assert.deepEqual([found?.view.status, found?.view.error?.data], ['failed', { code: 'interrupted' }]);
    await other?.close();
  });

  test('processes summarize different texts; one takes over what another gives up', async () => {
    const given = new Map<string, number>();
    let isDown = true;
    const provider: SummaryProvider = {
      ...{ name: 'ollama', model: 'm', isLocal: false, concurrencyMax: 2 },
      async summarise(text) {
        if (isDown) {
          isDown = false;
          throw new Error('away');
        }
        given.set(text, (given.get(text) ?? 0) + 1);
        await pause(10);
        return 'short';
      },
    };
    const local = extractiveSummaries({ summaryMaxTokens: 2000 });
    const [first] = storages;
    const texts = Array.from({ length: 30 }, (_, n) => `Text ${n}`);
    const fields = {
      threadId: 't',
      source: 'user',
      metadata: undefined,
      tags: [],
      images: [],
      summary: undefined,
    } as const;
    await first.entries.store({ entries: texts.map((text) => ({ ...fields, text, needsSummary: true })) });
    const working = storages.map(({ entries, shared }) =>
      createEntrySummaries({ charsMin: 1 }, { entries, provider, local, shared, log: silentLogger }),
    );
    for (const each of working) each.wake();
    while ((await first.entries.unsummarised({ limit: 1 })).length > 0) await pause(20);
    for (const each of working) await each.close();
    assert.deepEqual(
      [...given.values()],
      texts.map(() => 1),
    );
  });

  test('a long-running process finds new writes and indexes like a fresh one', async () => {
    const [running, writing] = storages;
    const store = (...texts: string[]) =>
      writing.entries.store({
        entries: texts.map((text) => ({
          ...{ threadId: 't', source: 'user' as const, text, tags: [], images: [], summary: undefined },
          metadata: { status: 'new', owner: 'me' },
        })),
      });
    const search = ({ entries }: Storage, field: string, value: string) =>
      entries.searchWords({
        query: { kind: 'term', term: 'walnut', written: 'walnut' },
        filter: { metadata: [{ path: [field], operator: 'eq', value, caseSensitive: true }] },
        ...{ limit: 5, offset: 0, explain: true },
      });
    await store('a walnut', 'an apple');
    for (const _ of [1, 2, 3, 4]) assert.equal((await search(running, 'status', 'new')).total, 1);
    await store('another walnut of four words', 'a pear');
    const again = await search(running, 'status', 'new');
    assert.equal(again.total, 2);
    assert.deepEqual(again, await search(await opened(), 'status', 'new'));
    for (const _ of [1, 2, 3]) assert.match((await search(running, 'owner', 'me')).plan ?? '', /owner: not indexed/);
    await writing.entries.indexFields({ fields: ['owner'], mode: 'auto' });
    const indexed = await search(running, 'owner', 'me');
    assert.doesNotMatch(indexed.plan ?? '', /not indexed/);
    assert.equal(indexed.total, 2);
    assert.equal((await search(running, 'status', 'new')).total, 2);
  });

  test("one process at a time holds a lease; a dead holder's lease is taken over", async () => {
    const both = [one, two];
    const item = { kind: 'lease', id: 'index' };
    await one.add({ ...item, part: 0 }, Buffer.from('a dead one'), 1);
    const running: string[] = [];
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      running.push(name);
      assert.deepEqual(running, [name]);
      await pause(5);
      done.push(running.pop() ?? '');
    };
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name, n) => withLease(both[n % 2] ?? assert.fail(), item, () => work(name))));
    assert.deepEqual(done.toSorted(), names);
    await assert.rejects(withLease(one, item, async () => Promise.reject(new Error('broken'))));
    assert.deepEqual(await one.list({ kind: 'lease' }), [], 'the next one need not wait');
  });
});
