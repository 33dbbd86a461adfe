import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { generateCorpus } from './corpus.ts';
import { startDocumentSite } from './document-site.ts';
import { leakyText } from './faults.ts';
import { type FakeFess, startFakeFess } from './start-fake-fess.ts';

let fess: FakeFess;
before(async () => {
  fess = await startFakeFess({ version: '15.4', ...generateCorpus(), contextPath: '/fess' });
});
afterEach(() => fess.setFault(null));
after(() => fess.close());

const search = (init: RequestInit = {}) =>
  fetch(`${fess.url}/api/v1/documents?q=test&fields.label=hr`, { redirect: 'manual', ...init });

test('the key of the error id ends in a colon', async () => {
  fess.setFault({ kind: 'error', status: 500 });
  const response = await search();
  assert.equal(response.status, 500);
  assert.match(await response.text(), /^{"error_code:":"[0-9a-f-]{36}"}$/);
});

test('an error may contain a stack trace with host names', async () => {
  fess.setFault({ kind: 'error', status: 500, withStack: true });
  assert.match(await (await search()).text(), /opensearch-0\.internal:9201/);
  assert.match(leakyText, /opensearch-0\.internal:9201/);
});

test('serves HTML, broken JSON and foreign JSON with 200', async () => {
  fess.setFault({ kind: 'html' });
  assert.match((await search()).headers.get('content-type') ?? '', /text\/html/);
  fess.setFault({ kind: 'broken-json' });
  await assert.rejects((await search()).json());
  fess.setFault({ kind: 'foreign-json' });
  assert.deepEqual(await (await search()).json(), ['another', 'service']);
});

test('simulates redirects, rate limits and blocked addresses', async () => {
  fess.setFault({ kind: 'redirect' });
  assert.equal((await search()).status, 302);
  fess.setFault({ kind: 'rate-limited', retryAfterSeconds: 60 });
  const limited = await search();
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '60']);
  fess.setFault({ kind: 'ip-blocked' });
  assert.equal((await search()).status, 403);
});

test('a truncated answer and a reset connection fail', async () => {
  fess.setFault({ kind: 'truncated' });
  await assert.rejects(async () => (await search()).text());
  fess.setFault({ kind: 'reset' });
  await assert.rejects(search());
});

test('a huge answer has the requested length', async () => {
  fess.setFault({ kind: 'huge', bytes: 1024 * 1024 });
  assert.ok((await (await search()).arrayBuffer()).byteLength > 1024 * 1024);
});

test('holds an answer until it is released, and delays a slow one', async () => {
  fess.setFault({ kind: 'hold' });
  const arrived = fess.nextRequest('q=test');
  const answer = search();
  const recorded = await arrived;
  fess.release();
  assert.equal((await answer).status, 200);
  assert.equal(await recorded.finished, 'answered');
  fess.setFault({ kind: 'slow', delayMs: 5 });
  assert.equal((await search()).status, 200);
});

for (const kind of ['hang', 'stall'] as const) {
  test(`a ${kind} ends when the caller disconnects, which is recorded`, async () => {
    fess.setFault({ kind });
    const arrived = fess.nextRequest();
    const client = request(`${fess.url}/api/v1/documents?q=test`).on('error', () => {});
    client.end();
    const recorded = await arrived;
    client.destroy();
    assert.equal(await recorded.finished, 'closed');
  });
}

test('a fault can be limited to a path and to a number of requests', async () => {
  fess.setFault({ kind: 'error', status: 500, path: '/documents', times: 1 });
  assert.equal((await fetch(`${fess.url}/api/v1/health`)).status, 200);
  assert.equal((await search()).status, 500);
  assert.equal((await search()).status, 200);
});

test('a request line over 8 KiB never reaches Fess', async () => {
  const response = await fetch(`${fess.url}/api/v1/documents?q=${'x'.repeat(9000)}`);
  assert.equal(response.status, 400);
  assert.match(response.headers.get('content-type') ?? '', /html/);
});

test('v1 answers unknown methods with 405 and unknown paths with 404; its root is a search', async () => {
  const post = await fetch(`${fess.url}/api/v1/documents`, { method: 'POST' });
  assert.deepEqual([post.status, await post.json()], [405, { message: 'POST is not allowed.' }]);
  const unknown = await fetch(`${fess.url}/api/v1/nothing`);
  assert.deepEqual([unknown.status, await unknown.json()], [404, { message: 'Not found.' }]);
  const bare = (await (await fetch(`${fess.url}/api/v1/?q=test`)).json()) as { record_count: number };
  assert.equal(bare.record_count, 120);
});

test('v1 escapes slashes and all non-ASCII characters', async () => {
  const text = await (await fetch(`${fess.url}/api/v1/documents?q=test&num=100`)).text();
  assert.match(text, /https:\\\/\\\//);
  assert.match(text, /R\\u00E4ume/);
  assert.doesNotMatch(text, /[\u0080-\uffff]/);
});

test('hides labels from callers in other languages, and omits an empty list', async () => {
  const other = await startFakeFess({ version: '15.4', labels: [{ label: 'Personal', value: 'hr_de' }] });
  const labels = async (language: string) =>
    (await fetch(`${other.url}/api/v1/labels`, { headers: { 'accept-language': language } })).json();
  assert.deepEqual(await labels('en'), { record_count: 0 });
  assert.deepEqual(await labels('de'), { record_count: 1, data: [{ label: 'Personal', value: 'hr_de' }] });
  await other.close();
});

test('totals stop at 10,000 unless the request asks for exact totals', async () => {
  const many = generateCorpus({ labels: ['many'], documentsPerLabel: 10_050 }).documents;
  fess.setDocuments(many.map((document) => ({ ...document, content: 'test' })));
  const count = async (extra: string) =>
    /"record_count":(\d+),"record_count_relation":"(\w+)"/
      .exec(await (await fetch(`${fess.url}/api/v1/documents?q=test&num=1${extra}`)).text())
      ?.slice(1);
  assert.deepEqual(await count(''), ['10000', 'GREATER_THAN_OR_EQUAL_TO']);
  assert.deepEqual(await count('&track_total_hits=true'), ['10050', 'EQUAL_TO']);
  fess.setDocuments([]);
});

test('sockets are counted', async () => {
  const client = request(`${fess.url}/api/v1/health`);
  client.end();
  const [response] = await once(client, 'response');
  response.resume();
  assert.ok(fess.openSockets() > 0);
});

test('the document site serves pages, text, PDF and redirects', async () => {
  const site = await startDocumentSite();
  const get = (path: string) => fetch(`${site.url}${path}`, { redirect: 'manual' });
  assert.match(await (await get('/hr/3.html')).text(), /Page 3 of hr/);
  assert.match(await (await get('/document.pdf')).text(), /^%PDF-1\.4/);
  assert.equal((await get('/moved')).headers.get('location'), '/page.html');
  assert.equal((await get('/nowhere')).status, 404);
  site.setPage('/changed', { body: 'new' });
  assert.equal(await (await get('/changed')).text(), 'new');
  assert.equal(site.requests.at(-1)?.path, '/changed');
  await site.close();
});
