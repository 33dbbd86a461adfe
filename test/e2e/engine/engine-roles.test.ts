import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { type FakeOllama, startOllama } from '../../fakes/ollama.ts';
import { type Carrel, runCarrel, startCarrel } from '../../support/child-program.ts';
import { type EngineClient, startEngine } from '../../support/engine-client.ts';
import { type Fields, modernCalls, withTasks } from '../../support/modern-calls.ts';
import { until } from '../../support/pause.ts';
import { pgbouncerObstacle, startPgbouncer } from '../../support/pgbouncer.ts';
import { createTestDatabase, type PostgresServer, startOwnPostgres } from '../../support/postgres.ts';
import { size } from '../../support/sizes.ts';

const token = 'the-token-of-all-callers';
const { authorization, send, call } = modernCalls(token);
const suite = { skip: pgbouncerObstacle() ?? false, timeout: 300_000 };

/** Each has one chunk. */
const notes = size({ quick: 8, full: 24 });

/**
 * Contract §6 and T103 as in a large installation: servers that answer, engines that work, and PgBouncer in transaction mode
 * in front of PostgreSQL, without any setting for prepared statements.
 */
describe('processes with roles on one PostgreSQL, using PgBouncer in transaction mode', suite, () => {
  const cleanUps: (() => unknown)[] = [];
  const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };
  let server: PostgresServer;
  let directUrl: string;
  let settings: Record<string, string>;
  /** Each process has a separate model server, which shows who created the vectors. */
  const models: Record<string, FakeOllama> = {};
  let one: Carrel;
  let two: Carrel;
  let reader: EngineClient;
  let worker: EngineClient;

  const envOf = async (name: string): Promise<Record<string, string>> => {
    const model = await startOllama(owner);
    models[name] = model;
    return { ...settings, OLLAMA_HOST: model.origin };
  };
  const engine = async (name: string, ...flags: string[]): Promise<EngineClient> =>
    startEngine(owner, { flags, env: await envOf(name) });
  const statusOf = async (job: unknown, { url }: Carrel): Promise<unknown> =>
    ((await call(url, 'kb_jobs', { job_id: job }))['jobs'] as Fields[] | undefined)?.[0]?.['status'];
  const unembedded = async (): Promise<number> => Number((await call(two.url, 'kb_status', {}))['unembedded']);

  before(async () => {
    const started = await startOwnPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    cleanUps.push(() => server.stop());
    const database = await createTestDatabase(server);
    directUrl = database.url;
    const bouncer = await startPgbouncer(owner, server.url, { server_login_retry: 1 });
    settings = {
      ...{ STORAGE_BACKEND: 'postgresql', DATABASE_URL: bouncer.urlOf(database.url), CARREL_AUTH_TOKEN: token },
      ...{ EMBEDDING_PROVIDER: 'ollama', EMBEDDING_MODEL: 'letters', ENABLE_RERANKING: 'false', KB_API_KEY: token },
    };
    const start = async (name: string) =>
      startCarrel(owner, ['serve', '--transport', 'http'], { env: { ...(await envOf(name)), KB_ROLES: 'search' } });
    [one, two] = await Promise.all([start('one'), start('two')]);
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  it("answering-only servers accept files, show them queued, and cancel each other's", async () => {
    const upload = await call(one.url, 'kb_upload_start', { filename: 'heron.txt', total_size: 6 });
    const { upload_id } = upload;
    await call(two.url, 'kb_upload_chunk', {
      upload_id,
      chunk_index: 0,
      data: Buffer.from('herons').toString('base64'),
    });
    const { job_id: kept } = await call(one.url, 'kb_upload_finish', { upload_id });
    assert.equal(await statusOf(kept, two), 'queued');
    const { taskId } = await call(one.url, 'kb_addnote', { text: 'never ingested' }, withTasks);
    await send(two.url, 'tasks/cancel', { taskId }, withTasks);
    assert.equal((await send(one.url, 'tasks/get', { taskId }, withTasks))['status'], 'cancelled');
    const cancelled = async (): Promise<Fields[]> =>
      (await call(two.url, 'kb_jobs', { status: 'cancelled' }))['jobs'] as Fields[];
    await until(async () => (await cancelled()).length === 1);

    reader = await engine('reader', '--ingest');
    await until(async () => (await statusOf(kept, two)) === 'done');
    assert.equal((await cancelled()).length, 1);
    const { results } = await call(two.url, 'kb_search', { query: 'herons' });
    assert.equal((results as Fields[]).length, 1);
    assert.equal((await call(one.url, 'kb_status', {}))['documents'], 1);
  });

  it('an engine without a role says which one is missing, and which it has', async () => {
    const { status, json } = await reader.call('POST', '/search', { query: 'herons' });
    assert.deepEqual([status, json['error'], json['role']], [501, 'role_missing', 'search']);
    assert.deepEqual((await reader.get('/health'))['roles'], ['ingest']);
    assert.deepEqual((await reader.get('/status'))['roles'], ['ingest']);
    const response = await fetch(`${reader.program.origin}/metrics`, { headers: authorization });
    const metrics = await response.text();
    assert.match(metrics, /carrel_engine_role\{[^}]*role="ingest"[^}]*\} 1/);
    assert.match(metrics, /carrel_engine_role\{[^}]*role="embed"[^}]*\} 0/);
  });

  it('each of many notes is ingested once and embedded once, by processes with that role', async () => {
    assert.equal(await unembedded(), 1);
    assert.deepEqual([...(models['reader']?.received.keys() ?? [])], [], 'it does not embed');
    worker = await engine('worker', '--ingest', '--embed');
    await engine('embedder', '--embed');
    const texts = Array.from({ length: notes }, (_, n) => `Note ${n} tells of the bird with the number ${n * 7_919}.`);
    const added = await Promise.all(
      texts.map((text, n) => call(n % 2 === 0 ? one.url : two.url, 'kb_addnote', { text })),
    );
    for (const { job_id } of added) await until(async () => (await statusOf(job_id, one)) === 'done');
    await until(async () => (await unembedded()) === 0);
    assert.equal((await call(one.url, 'kb_status', {}))['documents'], notes + 1);
    const received = ['worker', 'embedder'].flatMap((name) => [...(models[name]?.received.entries() ?? [])]);
    assert.deepEqual([received.length, received.filter(([, times]) => times > 1)], [notes + 1, []]);
    assert.equal(new Set(received.map(([text]) => text)).size, notes + 1);
    for (const text of [texts[3], texts[6]]) {
      const { results } = await call(two.url, 'kb_search', { query: text, vec_only: true, include_weak: true });
      assert.equal((results as Fields[])[0]?.['text'], text);
    }
    assert.deepEqual([...(models['reader']?.received.keys() ?? [])], []);
  });

  it('concurrent calls find entries of the other process by words and by meaning', async () => {
    const entries = size({ quick: 6, full: 30 });
    const store = (n: number) => ({ thread_id: 'pond', source: 'agent', text: `A grebe with ${n} chicks` });
    const stored = await Promise.all(
      Array.from({ length: entries }, (_, n) => call(n % 2 === 0 ? one.url : two.url, 'store_context', store(n))),
    );
    assert.equal(new Set(stored.map(({ context_id: id }) => id)).size, entries);
    const found = await Promise.all(
      stored.map(async ({ context_id: id }, n) => {
        const query = store(n).text;
        const url = n % 2 === 0 ? two.url : one.url;
        const words = await call(url, 'fts_search_context', { query: `"${query}"` });
        // 12 and 21 have the same letters, so either may come first.
        const near = await call(url, 'semantic_search_context', { query, limit: 2, include_weak: true });
        return [words, near].every(({ results }) => (results as Fields[]).some((hit) => hit['id'] === id));
      }),
    );
    assert.deepEqual(
      found.filter((isFound) => !isFound),
      [],
    );
  });

  it('the vector index is built, and no lease is left waiting', async () => {
    const copied = 1_000_000;
    const direct = new Client({ connectionString: directUrl });
    await direct.connect();
    const count = async (sql: string): Promise<number> => Number((await direct.query(sql)).rows[0]?.count);
    const valid = `SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relname LIKE '%vectors_nearest%' AND i.indisvalid`;
    // The index needs many vectors; copies are enough.
    for (const corpus of ['kb', 'context']) {
      await direct.query(`INSERT INTO carrel.${corpus}_vectors (owner, model, start_at, end_at, vector)
        SELECT owner, model, ${copied} + n, ${copied} + n, vector
        FROM (SELECT * FROM carrel.${corpus}_vectors LIMIT 1) one CROSS JOIN generate_series(1, 2000) n`);
    }
    await call(one.url, 'kb_addnote', { text: 'The bird that makes it worth an index' });
    await call(two.url, 'store_context', { thread_id: 'pond', source: 'agent', text: 'A coot' });
    await until(async () => (await count(valid)) === 2);
    for (const corpus of ['kb', 'context']) {
      await direct.query(`DELETE FROM carrel.${corpus}_vectors WHERE start_at > ${copied}`);
    }
    await until(async () => (await count("SELECT count(*) FROM carrel.shared_parts WHERE kind = 'lease'")) === 0);
    await direct.end();
  });

  it('after a restart of PostgreSQL, all recover', {
    skip: process.env['DATABASE_URL'] !== undefined,
  }, async () => {
    await server.restart?.();
    const text = 'A kingfisher after the storm';
    const { job_id: job } = await until(async () => {
      const answer = await call(one.url, 'kb_addnote', { text });
      return answer['job_id'] !== undefined && answer;
    });
    await until(async () => (await statusOf(job, two).catch(() => undefined)) === 'done');
    const { results } = await until(async () => {
      const answer = await call(two.url, 'kb_search', { query: text });
      return answer['results'] !== undefined && answer;
    });
    assert.equal((results as Fields[])[0]?.['text'], text);
    assert.equal((await worker.get('/status'))['documents'], notes + 3);
  });
});

it('rejects unknown roles, and on SQLite warns about work left undone', async (t) => {
  const refused = await runCarrel(t, ['engine'], { env: { KB_ROLES: 'ingest,serach' } });
  assert.deepEqual(
    [refused.code, /KB_ROLES must contain one or more of ingest, embed, search/.test(refused.stderr)],
    [78, true],
  );
  const alone = await startEngine(t, { flags: ['--search', '--ingest'] });
  assert.match(alone.program.stderrText(), /this process will not embed; other processes on the same SQLite file must/);
});
