import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type FakeEngine, startFakeEngine } from '../fakes/kb-engine/start-fake-engine.ts';
import { type Carrel, startCarrel } from '../support/child-program.ts';
import { exchange, jsonHeaders, modernRequest, openStream, post } from '../support/raw-http.ts';

type Fields = Record<string, unknown>;
type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | boolean> };

const yes: Reply = { action: 'accept', content: { confirm: true } };
const refusals: Reply[] = [
  { action: 'decline' },
  { action: 'cancel' },
  { action: 'accept', content: { confirm: false } },
  // Not the requested type.
  { action: 'accept', content: { confirm: 'true' } },
  { action: 'accept', content: {} },
];

/** A real client whose user gives these replies, in order. */
async function connect(url: string, revision: string, replies: Reply[], meanwhile = async (): Promise<void> => {}) {
  const asked: string[] = [];
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      ...(revision === '2026-07-28'
        ? { versionNegotiation: { mode: { pin: revision } } }
        : { supportedProtocolVersions: [revision] }),
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    await meanwhile();
    return replies.shift() ?? { action: 'cancel' };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const call = async (name: string, args: Fields): Promise<Fields> => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return structuredContent as Fields;
  };
  return { asked, call, close: () => client.close() };
}

const initialize = (capabilities: Fields) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } },
});

describe('the user is asked through the client before a large deletion', { timeout: 300_000 }, () => {
  const cleanUps: (() => unknown)[] = [];
  let engine: FakeEngine;
  let server: Carrel;
  before(async () => {
    const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };
    engine = await startFakeEngine(owner);
    const env = { KB_ENGINE_URL: engine.origin, EMBEDDING_PROVIDER: 'none', ENABLE_RERANKING: 'false' };
    server = await startCarrel(owner, ['serve', '--transport', 'http', '--toolsets', 'context,kb'], { env });
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    it(`${revision}: with count and sample; anything but a clear yes changes nothing`, async () => {
      engine.documents.clear();
      for (const n of [1, 2, 3]) engine.add({ title: `Report\n${n}`, tags: ['old'], text: revision + n });
      engine.add({ title: 'Kept', tags: ['new'], text: revision });
      const { asked, call, close } = await connect(server.url, revision, [...refusals, yes]);
      for (const _ of refusals) {
        const { error } = await call('kb_bulk_delete', { tags: ['old'], force: true });
        assert.equal((error as Fields)['code'], 'not_confirmed');
        assert.equal(engine.documents.size, 4);
      }
      // Three of four exceed what the engine deletes without force; the user's yes counts as force.
      assert.equal((await call('kb_bulk_delete', { tags: ['old'] }))['changed'], 3);
      assert.deepEqual(
        [...engine.documents.values()].map(({ title }) => title),
        ['Kept'],
      );
      const question = 'Delete 3 documents, such as “Report 1”, “Report 2”, “Report 3”?';
      assert.deepEqual(asked, Array(6).fill(question));
      await close();
    });

    it(`${revision}: entries by thread, but not few by their ids`, async () => {
      const { asked, call, close } = await connect(server.url, revision, [{ action: 'decline' }, yes]);
      const texts = ['First thought', 'Second thought'];
      for (const text of texts) await call('store_context', { thread_id: revision, source: 'agent', text });
      const refused = await call('delete_context_batch', { thread_ids: [revision] });
      assert.equal((refused['error'] as Fields)['code'], 'not_confirmed');
      assert.equal((await call('delete_context_batch', { thread_ids: [revision] }))['deleted_count'], 2);
      assert.deepEqual(asked[0], 'Delete 2 memory entries, such as “Second thought”, “First thought”?');
      assert.equal((await call('delete_context_batch', { context_ids: [9_999] }))['deleted_count'], 0);
      assert.equal(asked.length, 2);
      await call('store_context', { thread_id: revision, source: 'agent', text: 'x'.repeat(200) });
      await call('delete_context_batch', { thread_ids: [revision] });
      assert.equal(asked[2], `Delete 1 memory entry, such as “${'x'.repeat(60)}…”?`);
      await close();
    });
  }

  for (const revision of ['2025-11-25', '2026-07-28']) {
    // In the older revision the call fails and is repeated; in the newer one the user is asked again within it.
    const asksAgain = revision === '2026-07-28';
    it(`${revision}: a late yes deletes exactly the items in the question, or nothing`, async () => {
      engine.documents.clear();
      for (const id of [1, 2]) engine.add({ id, title: `Report ${id}`, tags: ['old'], text: `${revision}${id}` });
      let changes = 1;
      const { asked, call, close } = await connect(
        server.url,
        revision,
        [yes, { action: 'decline' }, yes],
        async () => {
          if (changes-- !== 1) return;
          engine.documents.delete(2);
          engine.add({ id: 3, title: 'Report 3', tags: ['old'], text: revision });
        },
      );
      const { error } = await call('kb_bulk_delete', { tags: ['old'], force: true });
      assert.equal((error as Fields)['code'], 'not_confirmed');
      if (!asksAgain)
        assert.match(String((error as Fields)['message']), /has changed since .+ Nothing .+ Repeat the call/);
      assert.deepEqual([...engine.documents.keys()], [1, 3]);
      if (!asksAgain) await call('kb_bulk_delete', { tags: ['old'] });
      assert.equal((await call('kb_bulk_delete', { tags: ['old'] }))['changed'], 2);
      const [before, after] = ['2', '3'].map((last) => `Delete 2 documents, such as “Report 1”, “Report ${last}”?`);
      assert.deepEqual(asked, [before, after, after]);
      // By id, so that a new document cannot be included.
      const { body } = engine.requests.at(-1) ?? {};
      assert.deepEqual((body as Fields)['document_ids'], [1, 3]);
      await close();
    });

    it(`${revision}: the same holds for entries`, async () => {
      const thread = `late ${revision}`;
      const other = await connect(server.url, revision, []);
      const store = (text: string) => other.call('store_context', { thread_id: thread, source: 'agent', text });
      const first = await store('First');
      let changes = 1;
      const { call, close } = await connect(server.url, revision, [yes, { action: 'decline' }, yes], async () => {
        if (changes-- !== 1) return;
        await other.call('delete_context', { context_ids: [first['context_id']] });
        await store('Second');
      });
      const { error } = await call('delete_context_batch', { thread_ids: [thread], idempotency_key: thread });
      assert.equal((error as Fields)['code'], 'not_confirmed');
      if (!asksAgain)
        assert.match(String((error as Fields)['message']), /has changed since .+ Nothing .+ Repeat the call/);
      assert.equal((await other.call('search_context', { thread_id: thread }))['count'], 1);
      if (!asksAgain) await call('delete_context_batch', { thread_ids: [thread] });
      const deleted = await call('delete_context_batch', { thread_ids: [thread], idempotency_key: thread });
      assert.equal(deleted['deleted_count'], 1);
      await other.close();
      await close();
    });
  }

  it('an answer to another question, or to none, is asked for again (2026-07-28)', async () => {
    engine.documents.clear();
    for (const n of [1, 2, 3]) engine.add({ title: `Report ${n}`, tags: ['old'], text: String(n) });
    const send = async (args: Fields, more: Fields = {}): Promise<Fields> => {
      const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
      const request = modernRequest('tools/call', { name: 'kb_bulk_delete', arguments: args, ...more, _meta: meta });
      const answer = await exchange(server.url, { headers: request.headers, body: JSON.stringify(request.message) });
      return answer.messages[0]?.result as Fields;
    };
    const inputResponses = { confirm: yes };
    assert.equal((await send({ tags: ['old'] }, { inputResponses }))['resultType'], 'input_required');
    const { requestState } = await send({ tags: ['old'] });
    for (const args of [{ tags: ['old'], doc_type: 'note' }, { from_id: 1 }]) {
      assert.equal((await send(args, { inputResponses, requestState }))['resultType'], 'input_required');
    }
    for (const forged of ['', 'x', `${String(requestState)}A`, String(requestState).replace(/^./, '0'), 7, null]) {
      const again = await send({ tags: ['old'] }, { inputResponses, requestState: forged });
      assert.notEqual(again?.['resultType'], 'complete', JSON.stringify(forged));
    }
    engine.add({ title: 'Report 4', tags: ['old'], text: 'late' });
    // The user agreed to three, not to four.
    const { requestState: forFour, ...again } = await send({ tags: ['old'] }, { inputResponses, requestState });
    assert.equal(again['resultType'], 'input_required');
    assert.equal(engine.documents.size, 4);
    // A yes counts once: restored documents need a new one.
    const yesToFour = { inputResponses, requestState: forFour };
    assert.equal((await send({ tags: ['old'] }, yesToFour))['resultType'], 'complete');
    assert.equal(engine.documents.size, 0);
    for (const n of [1, 2, 3, 4]) engine.add({ title: `Report ${n}`, tags: ['old'], text: String(n) });
    assert.equal((await send({ tags: ['old'] }, yesToFour))['resultType'], 'input_required');
    assert.equal(engine.documents.size, 4);
  });

  it('a client that leaves without an answer has changed nothing', async () => {
    engine.documents.clear();
    for (const n of [1, 2, 3]) engine.add({ title: `Report ${n}`, tags: ['old'], text: String(n) });
    const opened = await post(server.url, initialize({ elicitation: {} }));
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    await post(server.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    const params = { name: 'kb_bulk_delete', arguments: { tags: ['old'], force: true } };
    const stream = await openStream(server.url, headers, { jsonrpc: '2.0', id: 2, method: 'tools/call', params });
    await exchange(server.url, { method: 'DELETE', headers });
    await stream.ended;
    assert.equal(stream.messages()[0]?.method, 'elicitation/create');
    assert.equal(engine.documents.size, 3);
  });

  it('if nobody can be asked, threshold and force decide as before', async () => {
    engine.documents.clear();
    for (const n of [1, 2, 3]) engine.add({ title: `Report ${n}`, tags: ['old'], text: String(n) });
    const outcomes: unknown[] = [];
    // One client can't ask; the other claims to, but opens no stream for questions.
    for (const [capabilities, accept] of [
      [{}, jsonHeaders.accept],
      [{ elicitation: { url: {} } }, jsonHeaders.accept],
      [{ elicitation: {} }, 'application/json'],
    ] as const) {
      const opened = await post(server.url, initialize(capabilities), { accept });
      const headers = { accept, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
      await post(server.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
      const params = { name: 'kb_bulk_delete', arguments: { tags: ['old'] } };
      const answer = await post(server.url, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, headers);
      const { structuredContent } = answer.messages[0]?.result ?? {};
      outcomes.push(((structuredContent as Fields)['error'] as Fields)['code']);
    }
    assert.deepEqual(outcomes, Array(3).fill('safety_threshold_exceeded'));
  });
});
