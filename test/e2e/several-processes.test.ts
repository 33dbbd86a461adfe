import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type FakeFess, startFakeFess } from '../fakes/fess/start-fake-fess.ts';
import { startOllama } from '../fakes/ollama.ts';
import { type Carrel, makeFolder, startCarrel } from '../support/child-program.ts';
import { type Fields, modernCalls, withTasks } from '../support/modern-calls.ts';
import { until } from '../support/pause.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../support/postgres.ts';
import { exchange, modernRequest, openSession, openStream, post } from '../support/raw-http.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';
import { size } from '../support/sizes.ts';

const token = 'the-token-of-all-callers';
const { authorization, send, call } = modernCalls(token);
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const obstacle = serverObstacle();

const suite = { skip: obstacle ?? false, timeout: 300_000 };

describe('several processes on one PostgreSQL, behind a plain load balancer (contract §3)', suite, () => {
  const cleanUps: (() => unknown)[] = [];
  const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };
  let one: Carrel;
  let two: Carrel;
  let fess: FakeFess;
  /** The balancer's address: each request goes to the next process. */
  let balanced: string;

  before(async () => {
    const server = await startRealPostgres();
    assert.ok(typeof server !== 'string', String(server));
    cleanUps.push(() => server.stop());
    const database = await createTestDatabase(server);
    fess = await startFakeFess({ version: '15.4' });
    cleanUps.push(() => fess.close());
    const ollama = await startOllama(owner);
    const folder = makeFolder(owner);
    mkdirSync(folder, { recursive: true });
    const fessConfig = join(folder, 'fess.json');
    writeFileSync(
      fessConfig,
      JSON.stringify({
        fessBaseUrl: fess.url,
        domain: { id: 'docs', name: 'Docs', labelFilter: 'all' },
        timeouts: { longRunningThresholdMs: 100 },
      }),
    );
    const env = {
      ...{ STORAGE_BACKEND: 'postgresql', DATABASE_URL: database.url, CARREL_AUTH_TOKEN: token },
      ...{ EMBEDDING_PROVIDER: 'ollama', EMBEDDING_MODEL: 'letters', OLLAMA_HOST: ollama.origin },
      ...{ ENABLE_RERANKING: 'false', CARREL_FESS_CONFIG: fessConfig, RATE_LIMIT_NOTES: '40' },
    };
    // They share only the database: each has a separate folder.
    [one, two] = await Promise.all([
      startCarrel(owner, ['serve', '--transport', 'http'], { env }),
      startCarrel(owner, ['serve', '--transport', 'http'], { env }),
    ]);
    const all = [one.origin, two.origin];
    let turn = 0;
    const next = (): string => all[turn++ % all.length] ?? '';
    balanced = `${(await startRecordingProxy(owner, next)).origin}/mcp`;
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  it('a write, change or deletion is visible to the next read and search of another process', async () => {
    const [writer, reader] = [one.url, two.url];
    const text = 'The heron stands in the reeds';
    const { context_id: id } = await call(writer, 'store_context', { thread_id: 'pond', source: 'agent', text });
    const found = async (tool: string, args: Fields): Promise<unknown[]> =>
      ((await call(reader, tool, { query: text, ...args }))['results'] as Fields[]).map((hit) => hit['id']);
    assert.deepEqual(await found('fts_search_context', {}), [id]);
    // By meaning, once either process has embedded the text.
    await until(async () => (await found('semantic_search_context', { include_weak: true })).includes(id));
    const hits = (await call(reader, 'find', { query: text }))['results'] as Fields[];
    assert.deepEqual(
      hits.map(({ uri }) => uri),
      [`carrel://context/${id}`],
    );
    await call(writer, 'update_context', { context_id: id, text: 'A bittern' });
    assert.deepEqual(await found('fts_search_context', { query: 'heron' }), []);
    await call(writer, 'delete_context', { context_ids: [id] });
    assert.deepEqual(await found('fts_search_context', { query: 'bittern' }), []);

    const { note } = await call(writer, 'save_note', { title: 'Marsh', content: text, tags: ['marsh'] });
    const noted = async () => ((await call(reader, 'list_notes', { query: text }))['notes'] as Fields[]).length;
    assert.equal(await noted(), 1);
    await call(writer, 'delete_note', { id: (note as Fields)['id'] });
    assert.equal(await noted(), 0);

    const { job_id: job } = await call(writer, 'kb_addnote', { text, collection: 'marsh' });
    const done = await until(async () => {
      const { jobs } = await call(reader, 'kb_jobs', { job_id: job });
      const [state] = (jobs as Fields[]) ?? [];
      return state?.['status'] === 'done' && state;
    });
    const { collections } = await call(reader, 'kb_list', {});
    assert.ok((collections as Fields[]).some(({ name }) => name === 'marsh'));
    assert.equal(((await call(reader, 'kb_search', { query: text }))['results'] as Fields[]).length, 1);
    await call(writer, 'kb_delete', { document_id: done['document_id'] });
    assert.deepEqual((await call(reader, 'kb_search', { query: text }))['results'], []);
  });

  it('any process starts, fills and finishes an upload, which is submitted once', async () => {
    const started = await call(balanced, 'kb_upload_start', { filename: 'birds.txt', total_size: 12 });
    const { upload_id } = started;
    const chunk = (url: string, chunk_index: number, text: string) =>
      call(url, 'kb_upload_chunk', { upload_id, chunk_index, data: Buffer.from(text).toString('base64') });
    await chunk(one.url, 0, 'king');
    assert.equal((await chunk(two.url, 1, 'fish'))['received_bytes'], 8);
    assert.equal(((await chunk(one.url, 1, 'FISH'))['error'] as Fields)['code'], 'upload_conflict');
    const early = await call(two.url, 'kb_upload_finish', { upload_id });
    assert.deepEqual((early['error'] as Fields)['missing_chunks'], [2]);
    await chunk(two.url, 2, 'ers!');
    const outcomes = await Promise.all([one.url, two.url].map((url) => call(url, 'kb_upload_finish', { upload_id })));
    assert.equal(outcomes[0]?.['status'], 'queued');
    assert.deepEqual(outcomes[0], outcomes[1]);

    // All bytes at once, to the address from another process; larger than one stored piece.
    const bytes = Buffer.concat([Buffer.from('An egret.'), Buffer.alloc(1_200_000, '\n')]);
    const whole = await call(one.url, 'kb_upload_start', { filename: 'egrets.txt', total_size: bytes.length });
    const address = new URL(String(whole['upload_url']));
    address.port = new URL(two.url).port;
    const put = () => exchange(address.href, { method: 'PUT', body: bytes });
    assert.deepEqual([(await put()).status, (await put()).status], [201, 409]);
    const { job_id: job } = await call(one.url, 'kb_upload_finish', { upload_id: whole['upload_id'] });
    const { document_id: id } = await until(async () => {
      const { jobs } = await call(balanced, 'kb_jobs', { job_id: job });
      return ((jobs as Fields[]) ?? []).find(({ status }) => status === 'done');
    });
    const [stored] = (await call(two.url, 'kb_list', { query: 'egrets' }))['documents'] as Fields[];
    assert.equal(stored?.['document_id'], id);
  });

  it('any process reports, ends and cancels a task of another', async () => {
    fess.setFault({ kind: 'hold' });
    const search = async (url: string): Promise<string> => {
      const asked = fess.nextRequest('/documents');
      const { taskId } = await call(url, 'fess_docs_search', { query: 'heron' }, withTasks);
      await asked;
      return String(taskId);
    };
    const state = (url: string, taskId: string) => send(url, 'tasks/get', { taskId }, withTasks);
    const [kept, stopped] = [await search(one.url), await search(one.url)];
    for (const id of [kept, stopped]) assert.equal((await state(two.url, id))['status'], 'working');
    const sockets = fess.openSockets();
    await send(two.url, 'tasks/cancel', { taskId: stopped }, withTasks);
    assert.equal((await state(one.url, stopped))['status'], 'cancelled');
    // The other process's request to Fess is cancelled.
    await until(async () => fess.openSockets() < sockets);

    const { headers, message } = modernRequest('subscriptions/listen', {
      notifications: { taskIds: [kept] },
      _meta: { [capabilitiesKey]: withTasks },
    });
    const stream = await openStream(two.url, { ...headers, ...authorization }, message);
    fess.release();
    fess.setFault(null);
    const told = await until(async () =>
      stream.messages().find(({ params }) => (params as Fields)['status'] === 'completed'),
    );
    stream.close();
    assert.equal((told.params as Fields)['taskId'], kept);
    const { status, result } = await state(two.url, kept);
    assert.deepEqual([status, (result as Fields)['isError'] ?? false], ['completed', false]);
  });

  it('any process returns the result of a call that became a job', async () => {
    fess.setFault({ kind: 'hold' });
    const { jobId } = await call(one.url, 'fess_docs_search', { query: 'heron' });
    const look = (url: string) => call(url, 'fess_docs_job_get', { jobId });
    assert.equal((await look(two.url))['state'], 'running');
    fess.release();
    fess.setFault(null);
    const { result } = await until(async () => {
      const job = await look(two.url);
      return job['state'] === 'done' && job;
    });
    assert.equal((result as Fields)['query'], 'heron');
    assert.equal(
      ((await call(two.url, 'fess_docs_job_get', { jobId: 'none' }))['error'] as Fields)['code'],
      'job_not_found',
    );
  });

  it('2026-07-28: each request to another process; pages are consecutive, and a question is asked once', async () => {
    const asked: string[] = [];
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { confirm: true } };
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(balanced), { requestInit: { headers: authorization } }),
    );
    const entries = Array.from({ length: 60 }, (_, n) => ({ thread_id: 'many', source: 'agent', text: `Duck ${n}` }));
    await client.callTool({ name: 'store_context_batch', arguments: { entries } });
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      for (const { uri } of page.resources) seen.add(uri);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.ok([...seen].filter((uri) => uri.startsWith('carrel://context/')).length >= 60);
    const { structuredContent } = await client.callTool({
      name: 'delete_context_batch',
      arguments: { thread_ids: ['many'] },
    });
    assert.deepEqual([(structuredContent as Fields)['deleted_count'], asked.length], [60, 1]);
    await client.close();
  });

  // The quick two are without and with questions.
  const revisions = ['2025-03-26', '2025-11-25', '2024-11-05', '2025-06-18'];
  for (const revision of revisions.slice(0, size({ quick: 2, full: 4 }))) {
    it(`${revision}: a session continues in any process, with questions, changes and cancelling, until it ends`, async () => {
      const [asked, told]: [string[], string[]] = [[], []];
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        { capabilities: { elicitation: {} }, supportedProtocolVersions: [revision] },
      );
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { confirm: true } };
      });
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
      const transport = new StreamableHTTPClientTransport(new URL(balanced), {
        requestInit: { headers: authorization },
      });
      await client.connect(transport);
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      const use = async (name: string, args: Fields): Promise<Fields> =>
        (await client.callTool({ name, arguments: args })).structuredContent as Fields;
      const ids: unknown[] = [];
      for (const n of [1, 2, 3, 4]) {
        ids.push(
          (await use('store_context', { thread_id: revision, source: 'agent', text: `Grebe ${n}` }))['context_id'],
        );
      }
      assert.equal(new Set(ids).size, 4);
      // Subscribed in one process, changed in the other; the stream is in either.
      const uri = `carrel://context/${ids[0]}`;
      await client.subscribeResource({ uri });
      // A process that briefly loses its connection misses notifications, so the change is repeated.
      await until(async () => {
        await use('update_context', { context_id: ids[0], text: `Grebe of ${Math.random()} m` });
        return told.includes(uri);
      });
      // Twice: once in each process.
      for (const _ of [1, 2]) await use('store_context', { thread_id: revision, source: 'agent', text: `Again ${_}` });
      if (revision >= '2025-06-18') {
        assert.equal((await use('delete_context_batch', { thread_ids: [revision] }))['deleted_count'], 6);
        assert.equal(asked.length, 1);
      }
      fess.setFault({ kind: 'hold' });
      const cancelling = new AbortController();
      const sent = fess.nextRequest('/documents');
      const searching = client.callTool(
        { name: 'fess_docs_search', arguments: { query: 'heron', wait: true } },
        { signal: cancelling.signal },
      );
      await sent;
      const sockets = fess.openSockets();
      cancelling.abort();
      await assert.rejects(searching);
      await until(async () => fess.openSockets() < sockets);
      fess.release();
      fess.setFault(null);

      const { sessionId = '' } = transport;
      await transport.terminateSession();
      await client.close();
      const left = { ...authorization, 'mcp-session-id': sessionId, 'mcp-protocol-version': revision };
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      for (const { url } of [one, two]) await until(async () => (await post(url, ping, left)).status === 404);
    });
  }

  it('nobody else can continue a session, and nothing runs before its handshake is complete', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const opened = await post(one.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, authorization);
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const early = await post(two.url, list, { ...authorization, ...session });
    assert.equal(early.messages[0]?.error?.code, -32_600);
    assert.equal((await post(two.url, list, session)).status, 401);
    await post(two.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...authorization, ...session });
    for (const { url } of [one, two]) {
      const answer = await post(url, list, { ...authorization, ...session });
      assert.ok(((answer.messages[0]?.result ?? {}) as Fields)['tools'], answer.text.slice(0, 200));
    }
  });

  it("listeners are notified of another process's writes", async () => {
    const { note } = await call(one.url, 'save_note', { title: 'Nest', content: 'empty' });
    const uri = `carrel://notes/${(note as Fields)['id']}`;
    const { headers, message } = modernRequest('subscriptions/listen', {
      notifications: { resourcesListChanged: true, resourceSubscriptions: [uri] },
    });
    const stream = await openStream(two.url, { ...headers, ...authorization }, message);
    await until(async () => {
      await call(one.url, 'update_note', { id: (note as Fields)['id'], content: `${Math.random()} eggs` });
      return stream.messages().some(({ method }) => method === 'notifications/resources/updated');
    });
    stream.close();
  });

  it('all processes share one rate limit', async () => {
    // Concurrently: one after the other they could take longer than the limit's minute.
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => call(n % 2 === 0 ? one.url : two.url, 'get_note', { id: 'none' })),
    );
    const codes = answers.map(({ error }) => (error as Fields)['code']);
    const [allowed, refused] = ['note_not_found', 'rate_limit_exceeded'].map((code) =>
      codes.filter((each) => each === code),
    );
    assert.equal((allowed?.length ?? 0) + (refused?.length ?? 0), 50, String(codes));
    assert.ok((allowed?.length ?? 0) <= 40, `${allowed?.length} were allowed`);
  });

  it('a killed process leaves its tasks as interrupted, and its uploads and sessions to the others', async () => {
    fess.setFault({ kind: 'hold' });
    const { taskId } = await call(one.url, 'fess_docs_search', { query: 'heron' }, withTasks);
    const { upload_id } = await call(one.url, 'kb_upload_start', { filename: 'a.txt', total_size: 4 });
    await call(one.url, 'kb_upload_chunk', { upload_id, chunk_index: 0, data: 'bGVmdA==' });
    const entry = { thread_id: 'nest', source: 'agent', text: 'empty' };
    const { context_id } = await call(two.url, 'store_context', entry);
    const uri = `carrel://context/${context_id}`;
    const session = await openSession(one.url, '2025-11-25', { headers: authorization });
    await session.send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } });
    one.process.kill('SIGKILL');
    await one.exited;
    // The client returns to another process, where the session continues with its subscriptions.
    const stream = await openStream(two.url, session.headers);
    await until(async () => {
      await call(two.url, 'update_context', { context_id, text: `${Math.random()} eggs` });
      return stream.messages().some(({ params }) => (params as Fields | undefined)?.['uri'] === uri);
    });
    stream.close();
    const { status, error } = await send(two.url, 'tasks/get', { taskId }, withTasks);
    assert.deepEqual([status, (error as Fields)['data']], ['failed', { code: 'interrupted' }]);
    assert.equal((await call(two.url, 'kb_upload_finish', { upload_id }))['status'], 'queued');
    fess.setFault(null);
  });
});
