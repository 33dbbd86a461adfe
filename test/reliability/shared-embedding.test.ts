import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import { type FakeOllama, startOllama } from '../fakes/ollama.ts';
import { makeFolder } from '../support/child-program.ts';
import { type EngineClient, startEngine } from '../support/engine-client.ts';
import { passageWriter } from '../support/passages.ts';
import { pause } from '../support/pause.ts';
import { createTestDatabase, type PostgresServer, serverObstacle, startRealPostgres } from '../support/postgres.ts';
import { runOn } from '../support/replication.ts';
import { size } from '../support/sizes.ts';

/** Texts to embed: several times what a process claims at once. */
const texts = size({ quick: 70, full: 120 });
const claimedAtOnce = 32;

interface ProgramFolders {
  readonly location: StorageLocation;
  readonly dataDir?: string;
  readonly env: Record<string, string>;
  run(sql: string): Promise<unknown>;
}

interface Worker {
  readonly engine: EngineClient;
  readonly model: FakeOllama;
}

describe('engines that share a backlog on SQLite', () => {
  shareBacklog(async (t) => {
    const dataDir = makeFolder(t);
    const path = join(dataDir, 'carrel.db');
    const run = async (sql: string) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    };
    return { location: { backend: 'sqlite', path }, dataDir, env: {}, run };
  });
});

describe('engines that share a backlog on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
  });
  after(() => server?.stop());
  shareBacklog(async (t) => {
    const { url, drop } = await createTestDatabase(server);
    t.after(drop);
    const run = (sql: string) => runOn(url, `SET search_path = carrel; ${sql}`);
    return { location: { backend: 'postgres', url }, env: { STORAGE_BACKEND: 'postgresql', DATABASE_URL: url }, run };
  });
});

function shareBacklog(open: (t: TestContext) => Promise<ProgramFolders>): void {
  test('two engines embed a backlog together, and each text once', async (t) => {
    const backlog = await open(t);
    await fill(backlog);
    const models = [await startOllama(t), await startOllama(t)] as const;
    // Neither gets an answer before both have work.
    const gate = Promise.all(models.map(({ firstRequest }) => firstRequest)).then(() => {});
    for (const model of models) model.gate = gate;
    const [one, two] = await Promise.all([start(t, backlog, models[0]), start(t, backlog, models[1])]);
    await until(one.engine, 0);
    await until(two.engine, 0);
    assert.deepEqual(repeated(...models), []);
    assert.equal(models[0].received.size + models[1].received.size, texts);
    assert.ok(models[0].received.size >= claimedAtOnce && models[1].received.size >= claimedAtOnce);
  });

  test("a killed engine's texts are embedded by the other once the lease has expired, and not before", async (t) => {
    const backlog = await open(t);
    await fill(backlog);
    const models = [await startOllama(t), await startOllama(t)] as const;
    models[0].mode = 'hung';
    const doomed = await start(t, backlog, models[0]);
    await models[0].firstRequest;
    const other = await start(t, backlog, models[1]);
    await until(other.engine, claimedAtOnce);
    const claimed = [...models[0].received.keys()];
    assert.ok(claimed.length > 0);
    assert.deepEqual(
      claimed.filter((text) => models[1].received.has(text)),
      [],
    );
    assert.equal(models[1].received.size, texts - claimedAtOnce);
    doomed.engine.program.process.kill('SIGKILL');
    await doomed.engine.program.exited;
    // As if the lease had expired.
    await backlog.run('UPDATE kb_unembedded SET claimed_until = 0 WHERE claimed_by IS NOT NULL');
    await until(other.engine, 0);
    assert.deepEqual(repeated(models[1]), []);
    assert.equal(models[1].received.size, texts);
  });
}

/** Writes the passages without embedding them. */
async function fill({ location }: ProgramFolders): Promise<void> {
  const storage = await openStorage(location);
  const passages = Array.from({ length: texts }, (_, number) => ({
    ...{ id: `p${number}`, title: '', headings: [], labels: [] },
    body: `passage number ${number}`,
  }));
  await passageWriter(storage).replace([{ parent: 'document', passages }]);
  await storage.close();
}

async function start(t: TestContext, { dataDir, env }: ProgramFolders, model: FakeOllama): Promise<Worker> {
  const engine = await startEngine(t, {
    ...(dataDir === undefined ? {} : { dataDir }),
    env: { ...env, EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: model.origin },
  });
  return { engine, model };
}

/** Waits until `count` texts have no vectors. */
async function until(engine: EngineClient, count: number): Promise<void> {
  while (Number((await engine.get('/status'))['unembedded']) > count) await pause(100);
}

function repeated(...models: FakeOllama[]): string[] {
  const all = models.flatMap(({ received }) =>
    [...received].flatMap(([text, times]) => Array<string>(times).fill(text)),
  );
  return all.filter((text, index) => all.indexOf(text) !== index);
}
