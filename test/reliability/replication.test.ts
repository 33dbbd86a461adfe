import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, type TestContext, test } from 'node:test';
import { isCarrelError } from '../../src/base/errors.ts';
import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { createReplica } from '../../src/storage/postgres/connections/replica.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { startOllama } from '../fakes/ollama.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';
import { type EngineClient, formOf, startEngine } from '../support/engine-client.ts';
import { pause, until } from '../support/pause.ts';
import {
  type ReplicatedPostgres,
  replicationObstacle,
  runOn,
  startMovingAddress,
  startReplication,
} from '../support/replication.ts';

const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const note = { title: 'title', content: 'some words', tags: [], sourceUrls: [] };

describe('PostgreSQL with a standby that follows it', { skip: replicationObstacle() ?? false }, () => {
  let servers: ReplicatedPostgres;
  before(async () => {
    servers = await startReplication();
  });
  after(() => servers?.stop());

  const open = (readUrl?: string): Promise<Storage> =>
    createPostgresStorage({ url: servers.urlOn(servers.primary), readUrl: readUrl ?? servers.urlOn(servers.standby) });
  const titles = async ({ notes }: Storage, query: string): Promise<string[]> =>
    (await notes.list({ query, limit: 100, offset: 0 })).notes.map(({ title }) => title);
  /** Waits until the replica answers. */
  const untilUsed = async (storage: Storage): Promise<void> => {
    const before = storage.replica?.counts().replica;
    while (storage.replica?.counts().replica === before) {
      await titles(storage, 'words');
      await pause(20);
    }
  };

  test('the replica answers searches, and sees every acknowledged write', async () => {
    const [one, two] = [await open(), await open()];
    await untilUsed(one);
    const readsOf = ({ replica }: Storage) => replica?.counts().replica ?? 0;
    // On a busy machine the primary answers many of them.
    for (let number = 0; number < 40 || [one, two].some((each) => readsOf(each) <= 10); number += 1) {
      const [writer, reader] = number % 2 === 0 ? [one, two] : [two, one];
      const title = `heron ${number}`;
      const { id } = await writer.notes.save({ ...note, title });
      assert.ok((await titles(reader, 'heron')).includes(title), title);
      await writer.notes.remove({ id });
      assert.deepEqual(await titles(reader, 'heron'), []);
    }
    for (const storage of [one, two]) await storage.close();
  });

  test('skips a stalled replica until it has caught up', async () => {
    const { standby, urlOn } = servers;
    const [one, two] = [await open(), await open()];
    await untilUsed(two);
    await runOn(standby.url, 'SELECT pg_wal_replay_pause()');
    const { id } = await one.notes.save({ ...note, title: 'bittern' });
    assert.deepEqual(await titles(two, 'bittern'), ['bittern']);
    assert.ok(((await two.replica?.check())?.behindBytes ?? 0) > 0);
    // Shows that the test can fail: the replica itself lacks the row.
    assert.deepEqual(await runOn(urlOn(standby), "SELECT 1 FROM carrel.notes WHERE title = 'bittern'"), []);
    await runOn(standby.url, 'SELECT pg_wal_replay_resume()');
    await untilUsed(two);
    assert.deepEqual(await titles(two, 'bittern'), ['bittern']);
    await one.notes.remove({ id });
    for (const storage of [one, two]) await storage.close();
  });

  test('a lagging replica answers once it has caught up, if the primary is down', async () => {
    const { primary, standby } = servers;
    const storage = await open();
    await untilUsed(storage);
    // Writes acknowledged after this have reached the standby.
    await servers.setSynchronous(true);
    await runOn(standby.url, 'SELECT pg_wal_replay_pause()');
    const { id } = await storage.notes.save({ ...note, title: 'grebe' });
    // The primary answers, and the replica is skipped for a while.
    assert.deepEqual(await titles(storage, 'grebe'), ['grebe']);
    await primary.kill();
    const search = titles(storage, 'grebe');
    await runOn(standby.url, 'SELECT pg_wal_replay_resume()');
    assert.deepEqual(await search, ['grebe']);
    await primary.start();
    await servers.setSynchronous(false);
    while (!(await storage.notes.remove({ id }).catch(() => undefined))) await pause(20);
    await storage.close();
  });

  test('a missing, writable or failing replica causes no errors', async (t) => {
    const { primary, standby, urlOn } = servers;
    const storage = await open();
    await untilUsed(storage);
    await standby.kill();
    for (let call = 0; call < 5; call += 1) await titles(storage, 'words');
    assert.match((await storage.replica?.check())?.trouble ?? '', /does not answer/);
    assert.match(
      doctor(t, urlOn(primary), urlOn(standby)),
      /"name":"replica","ok":false,"found":"[^"]*does not answer/,
    );
    await standby.start({ max_standby_streaming_delay: 0 });
    await untilUsed(storage);

    // A lock on the primary cancels queries on that table on the replica.
    const connections = createConnections({ url: urlOn(primary) });
    const replica = createReplica(urlOn(standby), { url: urlOn(primary) }, connections.read);
    const holding = Promise.withResolvers<void>();
    const search = replica.read(
      async (statements) => {
        await statements.query('SELECT 1 FROM carrel.notes');
        holding.resolve();
        await statements.query('SELECT pg_sleep(60)');
        return 'by the replica';
      },
      async () => 'by the primary',
    );
    await Promise.race([holding.promise, search]);
    await runOn(urlOn(primary), 'BEGIN; LOCK TABLE carrel.notes IN ACCESS EXCLUSIVE MODE; COMMIT');
    assert.equal(await search, 'by the primary');
    for (const each of [replica, connections, storage]) await each.close();

    const wrong = await open(urlOn(primary));
    await titles(wrong, 'words');
    assert.match((await wrong.replica?.check())?.trouble ?? '', /not a replica/);
    assert.equal(wrong.replica?.counts().replica, 0);
    await wrong.close();
  });

  test('a write that the standby has not confirmed is not acknowledged', async () => {
    const { standby, primary, urlOn } = servers;
    await servers.setSynchronous(true);
    const url = urlOn(primary);
    const [patient, hasty] = [
      await createPostgresStorage({ url }),
      await createPostgresStorage({ url, queryTimeoutMs: 200, lockTimeoutMs: 200, silenceMs: 200 }),
    ];
    const { total } = await patient.notes.list({ limit: 1, offset: 0 });
    await standby.kill();
    const unconfirmed = { code: 'unavailable', message: /did not confirm/ };
    await assert.rejects(hasty.notes.save(note), unconfirmed);
    // Once one write has waited longer than usual, others fail fast, and searches continue.
    const long = `${waiting} AND state_change < clock_timestamp() - interval '1 second'`;
    while ((await runOn(primary.url, long)).length === 0) await pause(50);
    await assert.rejects(hasty.notes.save(note), { code: 'unavailable', message: /standby .* Nothing was saved/ });
    await hasty.notes.list({ limit: 1, offset: 0 });
    assert.equal((await runOn(primary.url, waiting)).length, 1);
    // The server reports success when its wait is cancelled.
    let isSaving = true;
    const saving = assert.rejects(patient.notes.save(note), unconfirmed).finally(() => {
      isSaving = false;
    });
    const cancel = waiting.replace('pid', 'pg_cancel_backend(pid)');
    while (isSaving) await Promise.all([runOn(primary.url, cancel), Promise.race([saving, pause(20)])]);
    await saving;
    await standby.start();
    await servers.setSynchronous(true);
    await patient.notes.save(note);
    // The first write of each may have been saved, as its error said, and was.
    assert.equal((await patient.notes.list({ limit: 1, offset: 0 })).total, total + 3);
    while (!(await hasty.notes.save(note).catch(() => undefined))) await pause(20);
    for (const storage of [patient, hasty]) await storage.close();
  });

  test('two engines continue with the promoted standby: nothing acknowledged is lost or doubled', async (t) => {
    const { primary, standby, urlOn, bothUrl } = servers;
    const model = await startOllama(t);
    let { port } = primary;
    const movingUrl = await startMovingAddress(t, urlOn(primary), () => port);
    const start = (url: string): Promise<EngineClient> => {
      const storage = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: url, DATABASE_READ_URL: urlOn(standby) };
      return startEngine(t, { env: { ...storage, EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: model.origin } });
    };
    // One engine knows both servers, the other an address that moves.
    const engines = await Promise.all([start(bothUrl), start(movingUrl)]);
    const load = startLoad(engines);
    await load.reach(10);
    const metrics = await until(async () => {
      const text = await (await fetch(`${engines[0].program.origin}/metrics`)).text();
      return /^carrel_replica_reads_total\{.*by="replica".*\} [1-9]\d*$/m.test(text) && text;
    });
    assert.match(metrics, /^carrel_source_up\{.*source="replica".*\} 1$/m);
    assert.match(metrics, /^carrel_replica_lag_bytes(?:\{.*\})? \d+$/m);
    await primary.kill();
    // Before the promotion, neither server accepts writes. Searches are answered unless the primary had flushed more than it had
    // sent: then it is unknown what the replica lacks.
    await load.refusal();
    const none = await createPostgresStorage({ url: bothUrl }).catch((error: unknown) => error);
    assert.ok(isCarrelError(none) && none.code === 'unavailable', String(none));
    await runOn(standby.url, 'SELECT pg_promote()');
    port = standby.port;
    await load.reach(load.acknowledged.size + 10);
    await load.stop();

    for (const [text, { engine, job }] of load.acknowledged) {
      const document = await engine.documentIdOf(job);
      const found = (await engine.get(`/documents/${document}`)) as { chunks: { text: string }[] };
      assert.deepEqual(
        found.chunks.map((chunk) => chunk.text),
        [text],
      );
    }
    const isBusy = ({ queue, unembedded }: Record<string, unknown>): boolean => {
      const { queued, processing } = queue as Record<string, number>;
      return queued !== 0 || processing !== 0 || unembedded !== 0;
    };
    const [last = ''] = [...load.acknowledged.keys()].slice(-1);
    for (const engine of engines) {
      // Jobs whose answers were lost are also done, and all get their vectors.
      while (isBusy(await engine.get('/status'))) await pause(50);
      // This model has the same vectors for "note 1 of lane 2" and "note 2 of lane 1".
      const { results } = await engine.search({ query: last, vec_only: true, include_weak: true, top: 20 });
      assert.ok(results.some(({ text }) => text === last));
    }
    const twice = async (table: string, columns: string) =>
      runOn(urlOn(standby), `SELECT ${columns} FROM carrel.${table} GROUP BY ${columns} HAVING count(*) > 1`);
    assert.deepEqual(await twice('kb_passages', 'body'), []);
    assert.deepEqual(await twice('kb_vectors', 'owner, model'), []);
    // Each engine receives the other's notifications again.
    const listening = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'carrel notices'";
    while ((await runOn(standby.url, listening)).length < engines.length) await pause(50);
  });
});

function doctor(t: TestContext, url: string, readUrl: string): string {
  const settings = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: url, DATABASE_READ_URL: readUrl };
  const env = cleanEnv(makeFolder(t), { ...settings, EMBEDDING_PROVIDER: 'none' });
  const { stdout } = spawnSync(process.execPath, [carrelProgram, 'doctor', 'context', '--json'], {
    env,
    encoding: 'utf8',
  });
  return JSON.stringify(JSON.parse(stdout));
}

interface Load {
  readonly acknowledged: ReadonlyMap<string, { readonly engine: EngineClient; readonly job: number }>;
  reach(count: number): Promise<void>;
  /** Waits for the next call that reports the database as unavailable. */
  refusal(): Promise<void>;
  stop(): Promise<void>;
}

/** Adds notes and searches at each engine, one after the other; every failure must give a reason. */
function startLoad(engines: readonly EngineClient[]): Load {
  const acknowledged = new Map<string, { engine: EngineClient; job: number }>();
  let refused = 0;
  let stopped = false;
  const refuse = ({ status, json }: Awaited<ReturnType<EngineClient['call']>>): void => {
    assert.equal(status, 503, JSON.stringify(json));
    refused += 1;
  };
  const lanes = engines.flatMap((engine, index) =>
    [1, 2].map(async (lane) => {
      for (let number = 1; !stopped; number += 1) {
        const text = `note ${number} of lane ${lane} at engine ${index}`;
        const sent = await engine.submit(formOf({ note: text }));
        if (sent.status === 202) acknowledged.set(text, { engine, job: Number(sent.json['job_id']) });
        else refuse(sent);
        const searched = await engine.call('POST', '/search', { query: text });
        if (searched.status !== 200) refuse(searched);
        if (sent.status !== 202) await pause(20);
      }
    }),
  );
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await Promise.race([pause(20), ...lanes]);
  };
  return {
    acknowledged,
    reach: (count) => until(() => acknowledged.size >= count),
    refusal() {
      const before = refused;
      return until(() => refused > before);
    },
    async stop() {
      stopped = true;
      await Promise.all(lanes);
    },
  };
}
