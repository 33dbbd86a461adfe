import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type FakeEngine, type FakeOptions, startFakeEngine } from '../../../test/fakes/kb-engine/start-fake-engine.ts';
import { serveTcp } from '../../../test/fakes/loopback-server.ts';
import { pause } from '../../../test/support/pause.ts';
import { CarrelError, type ErrorCode } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { Secret } from '../../base/secret.ts';
import type { Engine } from '../engine.ts';
import { serveEngine } from '../http/serve-engine.ts';
import type { LocalEngine } from '../local/submit.ts';
import { createRemoteEngine } from './create-remote-engine.ts';

interface Fixture {
  fake: FakeEngine;
  engine: Engine;
}

async function connect(
  t: TestContext,
  options: FakeOptions & { key?: string; timeoutMs?: number } = {},
): Promise<Fixture> {
  const fake = await startFakeEngine(t, options);
  const engine = createRemoteEngine({
    engineUrl: fake.origin,
    timeoutMs: options.timeoutMs ?? 5_000,
    apiKey: options.key === undefined ? undefined : new Secret(options.key),
  });
  t.after(() => engine.close());
  return { fake, engine };
}

async function fails(work: Promise<unknown>, code: ErrorCode): Promise<CarrelError> {
  let caught: unknown;
  await work.catch((error: unknown) => {
    caught = error;
  });
  assert.ok(caught instanceof CarrelError, `no error of ours: ${String(caught)}`);
  assert.equal(caught.code, code);
  return caught;
}

test('accepts bare arrays, text ids and hits without document_id (upstreams 3.3)', async (t) => {
  const { fake, engine } = await connect(t);
  const made = await engine.submit({ note: 'Pension revaluation', tags: ['collection:memory', 'a'] });
  assert.deepEqual(made, { accepted: true, job_id: 'job-1', status: 'queued', filename: 'note.md' });
  assert.equal(fake.requests.at(-1)?.fields['tags'], 'collection:memory,a');

  const { jobs, total } = await engine.jobs({});
  assert.deepEqual([jobs[0]?.id, jobs[0]?.document_id, jobs[0]?.progress, total], ['job-1', 41, null, 1]);

  const { results, total_matches: matches } = await engine.search({ query: 'pension', top: 5 });
  const [hit] = results;
  assert.deepEqual([hit?.document_id, hit?.chunk_id, matches], [null, 410, 1]);
  assert.deepEqual(hit?.tags, ['collection:memory', 'a']);
  assert.deepEqual(hit?.chunk_metadata, { page: 3 });

  const document = await engine.document(41);
  assert.deepEqual([document.id, document.chunks[0]?.text], [41, 'Pension revaluation']);
  assert.deepEqual(await engine.tags(), [
    { tag: 'collection:memory', count: 1 },
    { tag: 'a', count: 1 },
  ]);
  const status = await engine.status();
  assert.deepEqual([status.version, status.documents, status.model?.name], ['3.2.2', 1, 'all-MiniLM-L6-v2']);
});

test('filters by source_path for an engine that does not', async (t) => {
  const { fake, engine } = await connect(t);
  fake.add({ text: 'one', source_path: 'memory/one.md' });
  fake.add({ text: 'two', source_path: 'memory/two.md' });
  const { documents, total } = await engine.documents({ source_path: 'memory/two.md' });
  assert.deepEqual([documents.map(({ id }) => id), total], [[42], 1]);
});

test('compares names regardless of how accents are composed', async (t) => {
  const { fake, engine } = await connect(t);
  fake.add({ text: 'one', title: 'caf\u00e9.md' });
  fake.add({ text: 'two', title: 'cafe\u0301.md' });
  fake.add({ text: 'three', title: 'cafe.md' });
  for (const query of ['CAF\u00c9', 'cafe\u0301'])
    assert.equal((await engine.documents({ query })).documents.length, 2);
});

test('a duplicate is an outcome, not an error', async (t) => {
  const { fake, engine } = await connect(t);
  await engine.submit({ note: 'same', title: 'First' });
  assert.deepEqual(await engine.submit({ note: 'same' }), { accepted: false, document_id: 41, title: 'First' });
  fake.interrupt((response) => response.writeHead(409).end('{"error":"duplicate","job_id":7,"title":null}'));
  assert.deepEqual(await engine.submit({ note: 'queued' }), { accepted: false, job_id: 7, title: null });
});

test('streams a file with its exact name and bytes', async (t) => {
  const { fake, engine } = await connect(t);
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 256));
  const content = (async function* () {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  })();
  const name = 'Bericht "März" 報告.pdf';
  await engine.submit({ filename: name, content, size: bytes.length, source_path: 'x/y' });
  const { file, fields } = fake.requests[0] ?? {};
  assert.ok(file);
  assert.ok(file.bytes.equals(bytes));
  assert.equal(decodeURIComponent(file.filename), name);
  assert.equal(fields?.['source_path'], 'x/y');
});

test("does not repeat the engine's error texts", async (t) => {
  const { fake, engine } = await connect(t);
  const missing = await fails(engine.document(7), 'document_not_found');
  assert.doesNotMatch(missing.message, /kb\.sqlite/);
  fake.add({ id: 8, doc_type: 'pdf' });
  await fails(engine.updateNote(8, 'x'), 'not_a_note');
  fake.interrupt((response) => response.writeHead(500).end('Traceback: /srv/engine.py line 3, password=hunter2'));
  const failed = await fails(engine.status(), 'engine_error');
  assert.doesNotMatch(JSON.stringify([failed.message, failed.data]), /Traceback|hunter2|srv/);
  assert.equal(failed.data['httpStatus'], 500);
});

test('a rejected key has its own error, which names the variable to check', async (t) => {
  const { engine } = await connect(t, { apiKey: 'right', key: 'wrong' });
  assert.match((await fails(engine.status(), 'engine_unauthorized')).message, /KB_API_KEY/);
});

test('sends the key with every call', async (t) => {
  const { fake, engine } = await connect(t, { apiKey: 'right', key: 'right' });
  await engine.status();
  await engine.submit({ note: 'x' });
  await engine.search({ query: 'x' });
  assert.deepEqual(new Set(fake.requests.map(({ authorization }) => authorization)), new Set(['Bearer right']));
});

test('adds the base path unless the operator wrote it', async (t) => {
  const { fake } = await connect(t);
  for (const path of ['', '/', '/api/v1', '/api/v1/']) {
    const engine = createRemoteEngine({ engineUrl: `${fake.origin}${path}`, timeoutMs: 5_000 });
    assert.equal((await engine.status()).version, '3.2.2');
    await engine.close();
  }
});

test('rejects a successful answer without a result', async (t) => {
  const { fake, engine } = await connect(t);
  for (const body of ['<html>Welcome</html>', '[]', '7', '']) {
    fake.interrupt((response) => response.writeHead(200).end(body));
    assert.match((await fails(engine.deleteDocument(1), 'engine_error')).message, /not understood/, body);
  }
  fake.interrupt((response) => response.writeHead(200).end('{}'));
  assert.equal((await engine.deleteDocument(1)).status, 'deleted');
  fake.interrupt((response) => response.writeHead(200).end('{"status":"ok"}'));
  await fails(engine.bulkDelete({ document_ids: [1] }), 'engine_error');
  fake.interrupt((response) => response.writeHead(200).end('{"changed":3}'));
  assert.equal((await engine.bulkDelete({ document_ids: [1] })).changed, 3);
});

test('keeps the total of an engine that filters by source_path, and counts the matches of one that does not', async (t) => {
  const { fake, engine } = await connect(t);
  const documents = [{ id: 1, source_path: 'a' }];
  fake.interrupt((response) => response.end(JSON.stringify({ documents, total: 250 })));
  assert.equal((await engine.documents({ source_path: 'a' })).total, 250);
  const others = [...documents, { id: 2, source_path: 'b' }];
  fake.interrupt((response) => response.end(JSON.stringify({ documents: others, total: 2 })));
  assert.equal((await engine.documents({ source_path: 'a' })).total, 1);
});

test('reads more than 100,000 tags of our engine, page by page', async (t) => {
  const all = Array.from({ length: 110_000 }, (_, at) => ({ tag: `tag ${String(at).padStart(6, '0')}`, count: 1 }));
  const service = await serveEngine({
    host: '127.0.0.1',
    port: 0,
    path: '/api/v1',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    fileBytesMax: 1,
    answerBytesMax: 4 * 1024 * 1024,
    readOnly: true,
    log: silentLogger,
  });
  const tags: Engine['tags'] = async ({ after = '', limit } = {}) => {
    const first = after === '' ? 0 : Number(after.slice(4)) + 1;
    return all.slice(first, limit && first + limit);
  };
  service.ready({ tags } as LocalEngine);
  const engine = createRemoteEngine({ engineUrl: service.url, timeoutMs: 30_000 });
  t.after(() => Promise.all([engine.close(), service.close(0)]));
  assert.deepEqual(await engine.tags(), all);
});

test('reports engine_unreachable if nothing listens', async () => {
  const engine = createRemoteEngine({ engineUrl: 'http://127.0.0.1:9', timeoutMs: 5_000 });
  await fails(engine.status(), 'engine_unreachable');
  await fails(engine.submit({ note: 'x' }), 'engine_unreachable');
});

test('a truncated answer, a redirect, a wrong address and an engine that is not ready have their own messages', async (t) => {
  const { fake, engine } = await connect(t);
  fake.interrupt((response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"version"');
    setImmediate(() => response.destroy());
  });
  assert.match((await fails(engine.status(), 'engine_error')).message, /was truncated/);
  fake.interrupt((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
  assert.match((await fails(engine.status(), 'engine_error')).message, /redirect/);
  fake.interrupt((response) => response.writeHead(200).end('<html>hello</html>'));
  assert.match((await fails(engine.status(), 'engine_error')).message, /not understood/);
  fake.interrupt((response) => response.writeHead(503).end('{"status":"starting"}'));
  const starting = await fails(engine.status(), 'engine_error');
  assert.equal(starting.retryAfterSeconds, 5);
  fake.interrupt((response) => response.destroy());
  await fails(engine.submit({ note: 'x' }), 'engine_unreachable');
});

test('reports engine_timeout if the engine does not answer', async (t) => {
  const { fake, engine } = await connect(t, { timeoutMs: 150 });
  fake.interrupt(() => {});
  await fails(engine.search({ query: 'x' }), 'engine_timeout');
});

test('cancelling a call closes its connection to the engine (contract §2)', async (t) => {
  const { fake, engine } = await connect(t);
  const controller = new AbortController();
  const arrived = new Promise<void>((resolve) => fake.interrupt(() => resolve()));
  const searching = fails(engine.search({ query: 'x' }, { signal: controller.signal }), 'cancelled');
  await arrived;
  controller.abort();
  await searching;
  await fake.requests[0]?.closed;
});

test('reports an engine that dies during an upload', async (t) => {
  const server = await serveTcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const engine = createRemoteEngine({ engineUrl: server.origin, timeoutMs: 5_000 });
  const content = (async function* () {
    for (let at = 0; at < 5000; at += 1) yield Buffer.alloc(64 * 1024);
  })();
  await fails(engine.submit({ filename: 'big', content, size: 5000 * 64 * 1024 }), 'engine_unreachable');
});

test('a slow transfer may take long; a stalled one may not', async (t) => {
  const { engine } = await connect(t, { timeoutMs: 1000 });
  let isOver = false;
  const moving = async function* () {
    for (; !isOver; await pause(20)) yield Buffer.from('part ');
  };
  const standing = new AbortController();
  const still = async function* () {
    yield Buffer.from('part ');
    await once(standing.signal, 'abort');
  };
  // The moving one started earlier: when the other times out, it has run longer.
  const [moved] = await Promise.all([
    engine.submit({ filename: 'slow', content: moving(), size: undefined }),
    fails(engine.submit({ filename: 'still', content: still(), size: 40 }), 'engine_timeout').finally(() => {
      isOver = true;
      standing.abort();
    }),
  ]);
  assert.ok(moved.accepted);
});

test('an error while reading the submitted content is not reported as an engine error', async (t) => {
  const { engine } = await connect(t);
  const broken = async function* () {
    yield Buffer.from('part');
    throw new CarrelError('upload_conflict', 'changed');
  };
  await fails(engine.submit({ filename: 'x', content: broken(), size: 40 }), 'upload_conflict');
});

test('replaces tags of a kind in one request, or one by one if the engine cannot', async (t) => {
  const { fake, engine } = await connect(t);
  const { id } = fake.add({ tags: ['collection:a', 'old', 'kept'] });
  fake.add({ tags: ['collection:b', ...Array.from({ length: 70 }, (_, index) => `t${index}`)] });
  const tags = () => fake.documents.get(id)?.tags;
  await engine.bulkTags({ document_ids: [id] }, { replaces: 'non_collections', add: ['kept', 'new'] });
  assert.deepEqual(tags(), ['collection:a', 'kept', 'new']);
  await engine.bulkTags({ document_ids: [id] }, { replaces: 'collections', add: ['collection:c'], remove: ['kept'] });
  assert.deepEqual(tags(), ['new', 'collection:c']);
  const paths = () => fake.requests.map(({ url }) => url.split('/').at(-1));
  assert.deepEqual(paths(), ['replace-tags', 'tags', 'tags', 'tags', 'replace-tags', 'tags', 'tags']);
  fake.requests.length = 0;
  fake.interrupt((response) => response.end('{"matched": 1, "total": 2, "changed": 1, "job_id": "j"}'));
  const change = { replaces: 'non_collections' as const, add: ['kept'] };
  assert.equal((await engine.bulkTags({ document_ids: [id] }, change)).changed, 1);
  assert.deepEqual(paths(), ['replace-tags']);
  assert.deepEqual(fake.requests[0]?.body, { document_ids: [id], remove: [], ...change });
});

test('a safety threshold error includes its numbers', async (t) => {
  const { fake, engine } = await connect(t);
  fake.add({ text: 'one' });
  const refused = await fails(engine.bulkDelete({ doc_type: 'note' }), 'safety_threshold_exceeded');
  assert.deepEqual([refused.data['matched'], refused.data['total']], [1, 1]);
  assert.deepEqual(await engine.bulkDelete({ doc_type: 'note', force: true }), {
    matched: 1,
    total: 1,
    changed: 1,
    job_id: 'job-bulk',
  });
});
