import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startFakeEngine } from '../fakes/kb-engine/start-fake-engine.ts';
import { carrelProgram } from '../support/child-program.ts';
import { startStdioClient } from '../support/stdio-client.ts';

interface Page {
  resources: { uri: string }[];
  nextCursor?: string;
}

const env = { EMBEDDING_PROVIDER: 'none', ANSWER_MAX_BYTES: '65536', RATE_LIMIT_NOTES: '1000' };

function start(t: TestContext, more: Record<string, string> = {}) {
  const client = startStdioClient(carrelProgram, ['serve', '--alone'], { ...env, ...more });
  t.after(() => client.program.process.kill('SIGKILL'));
  let id = 0;
  const request = (method: string, params: object) => {
    id += 1;
    return client.request(id, method, params);
  };
  const call = async (name: string, args: object) => {
    const { result } = await request('tools/call', { name, arguments: args });
    assert.equal(result?.['isError'], undefined, JSON.stringify(result));
    return result?.['structuredContent'] as Record<string, unknown>;
  };
  return { client, request, call };
}

test('contract §2: every resource that stays is listed once, while others come and go', {
  timeout: 60_000,
}, async (t) => {
  const { client, request, call } = start(t);
  await client.handshake();
  const entry = (text: string) => ({ thread_id: text, source: 'user', text });
  for (const batch of [0, 1]) {
    await call('store_context_batch', {
      entries: Array.from({ length: 70 }, (_, index) => entry(`entry ${batch} ${index}`)),
    });
  }
  for (let index = 0; index < 60; index += 1) await call('save_note', { title: `note ${index}`, content: 'text' });
  const listed: string[] = [];
  const removed = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const { result } = await request('resources/list', cursor === undefined ? {} : { cursor });
    const { resources, nextCursor } = result as unknown as Page;
    listed.push(...resources.map(({ uri }) => uri));
    if (nextCursor === undefined) break;
    cursor = nextCursor;
    // New entries go to the front of the list and shift every offset.
    await call('store_context_batch', { entries: [entry(`new ${listed.length}`), entry(`newer ${listed.length}`)] });
    await call('save_note', { title: `new ${listed.length}`, content: 'text' });
    const last = resources.at(-1)?.uri ?? '';
    if (!last.startsWith('carrel://context/')) continue;
    removed.add(last);
    await call('delete_context', { context_ids: [Number(last.split('/').at(-1))] });
  }
  assert.equal(new Set(listed).size, listed.length);
  const there = listed.filter((uri) => !removed.has(uri));
  const entries = there.filter((uri) => uri.startsWith('carrel://context/')).length;
  assert.equal(entries, 140 - removed.size);
  assert.ok(there.filter((uri) => uri.startsWith('carrel://notes/')).length >= 60);

  await t.test(
    'contract §4, for every text: a cursor belongs to one text, and to none that was changed since',
    async () => {
      const text = 'a line of a long text\n'.repeat(10_000);
      const { context_id: id } = await call('store_context', { thread_id: 't', source: 'user', text });
      const { context_id: other } = await call('store_context', { thread_id: 't', source: 'user', text: `${text}b` });
      const uri = `carrel://context/${id}`;
      const first = (await request('resources/read', { uri })).result;
      const cursor = first?.['nextCursor'];
      assert.equal(typeof cursor, 'string');
      assert.ok((await request('resources/read', { uri, cursor })).result);
      const refused = async (wanted: string) =>
        (await request('resources/read', { uri: wanted, cursor })).error?.data?.['code'];
      assert.equal(await refused(`carrel://context/${other}`), 'content_changed');
      await call('update_context', { context_id: id, text: `c${text}` });
      assert.equal(await refused(uri), 'content_changed');
    },
  );
  assert.equal(await client.end(), 0);
});

test('contract §4, for every text: a document can be read on, with any hash format', {
  timeout: 60_000,
}, async (t) => {
  const fake = await startFakeEngine(t);
  const long = 'a line of a long text\n'.repeat(10_000);
  const document = fake.add({ text: `${long}\fthe rest`, hash: `sha512:${'+/'.repeat(43)}==` });
  const { client, request } = start(t, { KB_ENGINE_URL: fake.origin, ANSWER_MAX_BYTES: '1048576' });
  await client.handshake();
  const uri = `carrel://kb/doc/${document.id}`;
  const cursor = (await request('resources/read', { uri })).result?.['nextCursor'];
  const { result } = await request('resources/read', { uri, cursor });
  assert.match(JSON.stringify(result), /"text":"the rest"/);
  document.hash = 'another';
  assert.equal((await request('resources/read', { uri, cursor })).error?.data?.['code'], 'content_changed');
  assert.equal(await client.end(), 0);
});
