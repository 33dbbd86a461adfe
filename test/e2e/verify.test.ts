import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { connectAgent, type KbAgent } from '../acceptance/kb/kb-fixture.ts';
import { type Owner, serveHttp } from '../fakes/loopback-server.ts';
import { startCarrel, withModels } from '../support/child-program.ts';
import { until } from '../support/pause.ts';

interface Hit {
  source: string;
  uri: string;
  hash: string;
  range: [number, number];
}

const lease = 'The tenant pays the rent on the third day of each month.\n\nPets are allowed, parrots included.';

async function serve(t: Owner, env: Record<string, string> = {}): Promise<KbAgent> {
  const { url } = await startCarrel(t, ['serve', '--transport', 'http'], { env });
  return await connectAgent(t, url);
}

let asked = 0;
const site = await serveHttp({ after }, (_, answer) => {
  asked += 1;
  answer.setHeader('content-type', 'text/html').end(`<p>${lease}</p>`);
});
const { host } = new URL(site.origin);
const shared = await serve({ after }, { FETCH_ALLOW_PRIVATE: host });

test('contract §8: verify locates a quotation from memory, and detects later changes', async () => {
  const { call } = shared;
  const { context_id: id } = await call('store_context', { thread_id: 'home', source: 'user', text: lease });
  const uri = `carrel://context/${id}`;
  const before = await call('verify', { uri, quote: 'pays the rent on the THIRD day' });
  const { hash, where, ...said } = before as { hash: string; where: { range: [number, number] } } & typeof before;
  assert.deepEqual(said, { uri, changed: false, found: true, message: 'The quotation is in the text.' });
  assert.equal(lease.slice(...where.range), 'pays the rent on the third day');

  await call('update_context', { context_id: id, text: lease.replace('third', 'fifth') });
  const gone = await call('verify', { uri, hash, quote: 'pays the rent on the third day' });
  assert.deepEqual([gone['found'], gone['changed']], [false, true]);
  assert.match(JSON.stringify(gone['nearest']), /on the fifth day/);
  const other = await call('verify', { uri, hash, quote: 'Pets are allowed' });
  assert.deepEqual([other['found'], other['changed']], [true, true]);

  await call('delete_context', { context_ids: [id] });
  const deleted = await call('verify', { uri, hash, quote: 'Pets are allowed' });
  assert.deepEqual([deleted['found'], deleted['changed'], deleted['hash']], [false, true, null]);
});

test('contract §8: verify reads documents, notes and web pages', async () => {
  const { call } = shared;
  const { job_id: job } = await call('kb_addnote', { text: lease });
  const document = await documentOf(call, job);
  const { note } = await call('save_note', { title: 'Lease', content: lease });
  for (const uri of [
    `carrel://kb/doc/${document}`,
    `carrel://notes/${(note as { id: string }).id}`,
    `http://${host}/lease`,
  ]) {
    const { found, message } = await call('verify', { uri, quote: 'of each month … parrots included' });
    assert.equal(found, true, `${uri}: ${message}`);
    assert.equal((await call('verify', { uri, quote: 'parrots excluded' }))['found'], false, uri);
  }
});

test('contract §8: verify accepts the uri and hash of every hit of every search, and its range is in the text', async (t) => {
  const { call } = await serve(t, withModels);
  const memory = `Memory. ${'Nothing of it is here. '.repeat(200)}${lease}`;
  await call('store_context', { thread_id: 'home', source: 'user', text: memory });
  await documentOf(call, (await call('kb_addnote', { text: lease }))['job_id']);
  await call('save_note', { title: 'Lease', content: `Note. ${lease}` });
  const { results: all } = await call('find', { query: 'when does the tenant pay the rent', explain: true });
  const found = all as Hit[];
  assert.deepEqual(found.map(({ source }) => source).toSorted(), ['context', 'kb', 'notes']);
  const query = { query: 'tenant pays rent', explain: true };
  for (const tool of ['kb_search', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
    const { results } = await call(tool, query);
    assert.equal((results as Hit[]).length, 1, tool);
    found.push(...(results as Hit[]));
  }
  const { notes } = await call('list_notes', query);
  found.push(...(notes as Hit[]));
  for (const { uri, hash, range } of found) {
    assert.match(hash, /^[0-9a-f]{16}$/, uri);
    const verified = await call('verify', { uri, hash, quote: 'the rent on the third day' });
    assert.deepEqual([verified['found'], verified['changed']], [true, false], uri);
    if (uri.startsWith('carrel://context/')) assert.match(memory.slice(...range), /rent on the third day/);
    else assert.ok(range[0] === 0 && range[1] > lease.length / 2, String(range));
  }
});

test('contract §8: verify accepts 12 to 64 digits of a hash', async () => {
  const { call } = shared;
  const { context_id: id } = await call('store_context', { thread_id: 'home', source: 'user', text: lease });
  const whole = createHash('sha256').update(lease).digest('hex');
  const given = { uri: `carrel://context/${id}`, quote: 'Pets are allowed' };
  for (const hash of [whole, whole.slice(0, 12), whole.slice(0, 16).toUpperCase()]) {
    assert.deepEqual((await call('verify', { ...given, hash }))['changed'], false, hash);
  }
  for (const hash of [whole.slice(0, 11), `${whole}0`, 'z'.repeat(16)]) {
    await assert.rejects(call('verify', { ...given, hash }), /12 to 64 hexadecimal digits/);
  }
});

test('contract §8: verify rejects what it cannot check, and says what it can', async () => {
  const { call } = shared;
  await assert.rejects(call('verify', { uri: 'file:///etc/passwd', quote: 'root' }), /carrel:\/\/kb\/doc\//);
  await assert.rejects(call('verify', { uri: 'carrel://context/1', quote: '… !' }), /no words/);
  await assert.rejects(call('verify', { uri: 'http://127.0.0.1/', quote: 'a word' }), /not allowed|private/i);
  const none = await call('verify', { uri: 'carrel://context/1 OR 1=1', quote: 'a word' });
  assert.equal(none['found'], false);
});

test('if fetch_page is disabled, verify asks no other server either', async (t) => {
  const before = asked;
  const { call } = await serve(t, { FETCH_ALLOW_PRIVATE: host, DISABLED_TOOLS: 'Fetch_Page' });
  await assert.rejects(call('verify', { uri: `http://${host}/`, quote: 'the tenant' }), /Unknown kind of URI/);
  assert.equal(asked, before);
});

async function documentOf(call: KbAgent['call'], job: unknown): Promise<number> {
  return until(async () => {
    const { jobs } = await call('kb_jobs', { job_id: job });
    const [found] = jobs as { status: string; document_id: number; error: string }[];
    assert.ok(found && found.status !== 'failed', found?.error);
    return found.status === 'done' && found.document_id;
  });
}
