import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isCarrelError } from '../../src/base/errors.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { startOllama } from '../fakes/ollama.ts';
import { type EngineClient, formOf, startEngine } from '../support/engine-client.ts';
import { pause } from '../support/pause.ts';
import { type ReplicatedPostgres, replicationObstacle, runOn, startReplication } from '../support/replication.ts';

const note = { title: 'title', content: 'some words', tags: [], sourceUrls: [] };

describe('a primary that fails, with a standby to take over', { skip: replicationObstacle() ?? false }, () => {
  let servers: ReplicatedPostgres;
  before(async () => {
    servers = await startReplication();
    await servers.waitForStandby(true);
  });
  after(() => servers?.stop());

  test('a write that the standby has not confirmed is not acknowledged', async () => {
    const { standby, primary, urlOn } = servers;
    const storage = await createPostgresStorage({ url: urlOn(primary), queryTimeoutMs: 300, lockTimeoutMs: 200 });
    await storage.notes.save(note);
    await standby.kill();
    await assert.rejects(storage.notes.save(note), { code: 'unavailable', message: /standby .* did not confirm/ });
    await standby.start();
    while ((await runOn(primary.url, 'SELECT 1 FROM pg_stat_replication')).length === 0) await pause(20);
    await storage.notes.save(note);
    // As it was told: the second may be there, and is.
    assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 3);
    await storage.close();
  });

  test('two engines go on with the promoted standby: nothing acknowledged is lost, and nothing is there twice', async (t) => {
    const { primary, standby, urlOn, bothUrl } = servers;
    const model = await startOllama(t);
    const env = {
      ...{ STORAGE_BACKEND: 'postgresql', DATABASE_URL: bothUrl },
      ...{ EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: model.origin },
    };
    const engines = await Promise.all([startEngine(t, { env }), startEngine(t, { env })]);
    const load = startLoad(engines);
    await load.reach(20);
    await primary.kill();
    // Before anybody takes over: neither server takes writes.
    await load.refusal();
    const none = await createPostgresStorage({ url: bothUrl }).catch((error: unknown) => error);
    assert.ok(isCarrelError(none) && none.code === 'unavailable', String(none));
    await runOn(standby.url, 'SELECT pg_promote()');
    await load.reach(load.acknowledged.size + 20);
    await load.stop();

    for (const [text, { engine, job }] of load.acknowledged) {
      const document = await engine.document(job);
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
      // Jobs that nobody was told of are done, too, and all get their vectors.
      while (isBusy(await engine.get('/status'))) await pause(50);
      const { results } = await engine.search({ query: last, vec_only: true, top: 1 });
      assert.equal(results[0]?.['text'], last);
    }
    const twice = async (table: string, columns: string) =>
      runOn(urlOn(standby), `SELECT ${columns} FROM carrel.${table} GROUP BY ${columns} HAVING count(*) > 1`);
    assert.deepEqual(await twice('kb_passages', 'body'), []);
    assert.deepEqual(await twice('kb_vectors', 'owner, model'), []);
    // Each is told again of what the other does.
    const listening = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'carrel notices'";
    while ((await runOn(standby.url, listening)).length < engines.length) await pause(50);
  });
});

interface Load {
  readonly acknowledged: ReadonlyMap<string, { readonly engine: EngineClient; readonly job: number }>;
  reach(count: number): Promise<void>;
  /** The next call that is told that the database is away. */
  refusal(): Promise<void>;
  stop(): Promise<void>;
}

/** Notes and searches at each engine, one after the other; whatever is not answered well must say why. */
function startLoad(engines: readonly EngineClient[]): Load {
  const acknowledged = new Map<string, { engine: EngineClient; job: number }>();
  let refused = 0;
  let stopped = false;
  const refuse = ({ status, json }: Awaited<ReturnType<EngineClient['call']>>): void => {
    assert.equal(status, 503, JSON.stringify(json));
    refused += 1;
  };
  const lanes = engines.flatMap((engine, place) =>
    [1, 2].map(async (lane) => {
      for (let number = 1; !stopped; number += 1) {
        const text = `note ${number} of lane ${lane} at engine ${place}`;
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
