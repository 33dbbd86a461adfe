import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { generateCorpus } from '../../../../test/fakes/fess/corpus.ts';
import type { FakeDocument } from '../../../../test/fakes/fess/fake-document.ts';
import { type FakeFess, startFakeFess } from '../../../../test/fakes/fess/start-fake-fess.ts';
import { createFessApi, type DetectingFessApi } from './create-fess-api.ts';

const corpus = generateCorpus();
const label = 'finance';
const client = { userAgent: 'carrel/test', timeoutMs: 60_000 };

for (const version of ['15.4', '15.8'] as const) {
  describe(`Fess ${version}`, () => {
    let fess: FakeFess;
    let api: DetectingFessApi;
    before(async () => {
      fess = await startFakeFess({ version, ...corpus, contextPath: '/fess' });
      api = createFessApi({ ...client, baseUrl: `${fess.url}/` });
      assert.equal(await api.detect(), version === '15.4' ? 'v1' : 'v2');
    });
    afterEach(() => {
      fess.setFault(null);
      fess.setHealth('green');
      fess.setDocuments(corpus.documents);
    });
    after(async () => {
      api.close();
      await fess.close();
    });
    const searchPath = version === '15.4' ? '/fess/api/v1/documents' : '/fess/api/v2/search';
    const last = (path: string) => fess.requests.findLast((request) => request.path === path);

    test('a simple search sends q, num and the label (AT-TOOL-002, 000 §7.1)', async () => {
      const answer = await api.search({ label, query: 'test' });
      const sent = last(searchPath)?.query;
      assert.equal(sent?.get('q'), 'test');
      assert.deepEqual(sent?.getAll('fields.label'), [label]);
      assert.equal(sent?.get('num'), '20');
      assert.deepEqual([answer.total, answer.hits.length, answer.nextStart, answer.isTotalExact], [40, 20, 20, true]);
      const [hit] = answer.hits;
      assert.ok(hit);
      assert.ok(hit.title !== '' && hit.url !== '' && hit.digest !== '' && hit.docId !== '');
      assert.equal(typeof hit.score, 'number');
      assert.equal(typeof hit.fields['content_length'], 'number');
      assert.doesNotMatch(String(hit.fields['content_title']), /<strong>|&amp;/);
      assert.equal('_id' in hit.fields, false);
      assert.equal(answer.execTimeMs, 40);
    });

    test('sends every parameter under the name that Fess reads', async () => {
      const facets = { field: ['label'], query: ['budget', 'report OR'], size: 5, minDocCount: 1, sort: 'count.desc' };
      const geo = { point: '52.5,13.4', distance: '500km' };
      const request = { label, query: 'test', start: 2, num: 3, sort: 'created.asc', lang: 'en', facets, geo };
      const answer = await api.search(request);
      const sent = Object.fromEntries(last(searchPath)?.query ?? []);
      assert.deepEqual(sent, {
        q: 'test',
        'fields.label': label,
        num: '3',
        start: '2',
        sort: 'created.asc',
        lang: 'en',
        'geo.location.point': '52.5,13.4',
        'geo.location.distance': '500km',
        'facet.field': 'label',
        'facet.query': 'report',
        'facet.size': '5',
        'facet.minDocCount': '1',
        'facet.sort': 'count.desc',
      });
      assert.deepEqual(answer.facets?.fields, [{ name: 'label', values: [{ value: label, count: answer.total }] }]);
      assert.deepEqual(
        answer.facets?.queries.map(({ value }) => value),
        ['budget', 'report OR'],
      );
      assert.equal(answer.hits[0]?.score, undefined);
    });

    test('trusts empty results only if the engine is up (AT-ERR-002, reference §0.2)', async () => {
      const none = await api.search({ label, query: 'zzzz' });
      assert.deepEqual([none.total, none.hits, none.isOutageRuledOut], [0, [], true]);
      fess.setHealth('down');
      const outage = (endpoint: string) => ({
        code: 'fess_error',
        data: { fault: 'engine_down', httpStatus: 500, endpoint: endpoint.replace('/fess', '') },
      });
      const v = version === '15.4' ? '/api/v1' : '/api/v2';
      await assertFails(api.search({ label, query: 'test' }), outage(searchPath));
      await assertFails(api.document(docOf(label).docId, label), outage(searchPath));
      await assertFails(api.popularWords({ label }), outage(`${v}/popular-words`));
      await assertFails(api.suggest({ label, prefix: 'foo' }), outage(`${v}/suggest-words`));
      await assertFails(api.health(), outage(`${v}/health`));
      assert.equal((await api.labels()).length, 3);
      fess.setHealth('red');
      fess.setDocuments([]);
      const red = { code: 'fess_error', data: { fault: 'engine_down', httpStatus: 503 } };
      await assertFails(api.search({ label, query: 'test' }), red);
    });

    test('without access to health, empty results are marked as unconfirmed', async () => {
      fess.setFault({ kind: 'ip-blocked', path: '/health' });
      assert.equal((await api.search({ label, query: 'zzzz' })).isOutageRuledOut, false);
      fess.setFault({ kind: 'foreign-json', path: '/health' });
      assert.equal((await api.search({ label, query: 'zzzz' })).isOutageRuledOut, false);
    });

    test('reports the original failure if the health check fails', async () => {
      fess.setFault({ kind: 'error', status: 500, path: searchPath }, { kind: 'reset', path: '/health' });
      await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'server_failed', httpStatus: 500 } });
      fess.setFault({ kind: 'reset', path: '/health' });
      const endpoint = searchPath.replace('/fess', '');
      await assertFails(api.search({ label, query: 'zzzz' }), { code: 'fess_unreachable', data: { endpoint } });
    });

    test('a 400 is an outage if the engine is down, otherwise a refusal', async () => {
      fess.setFault({ kind: 'error', status: 400, path: searchPath });
      await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'refused_request', httpStatus: 400 } });
      fess.setHealth('down');
      await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'engine_down' } });
    });

    test('finds a document only in its own label (000 §7.1)', async () => {
      const mine = docOf(label);
      const found = await api.document(mine.docId, label);
      assert.deepEqual([found.docId, found.url, found.title], [mine.docId, mine.url, mine.title]);
      await assertFails(api.document(docOf('hr').docId, label), { code: 'resource_not_found' });
      await assertFails(api.document('x" OR test', label), { code: 'invalid_arguments' });
    });

    test('returns the cached page without its banner, or null', async () => {
      const page = await api.cachedPage(await api.document(docOf(label).docId, label));
      assert.match(page ?? '', /^<html>[\s\S]*Cached page of finance/);
      assert.doesNotMatch(page ?? '', /snapshot/);
      const file = await api.document(fileOf(label).docId, label);
      assert.equal(await api.cachedPage(file), null);
    });

    test('returns the bytes of a file and the URL of a web document', async () => {
      const file = await api.original(await api.document(fileOf(label).docId, label));
      assert.ok(file?.kind === 'bytes');
      assert.match(Buffer.from(file.bytes).toString(), /^File of finance/);
      const page = await api.original(await api.document(docOf(label).docId, label));
      assert.deepEqual(page, { kind: 'address', url: docOf(label).url });
    });

    test('refuses to read a document that was not looked up', async () => {
      const found = await api.document(docOf(label).docId, label);
      const forged = { ...found, docId: docOf('hr').docId };
      await assertFails(api.cachedPage(forged), { code: 'internal' });
      await assertFails(api.original(forged), { code: 'internal' });
    });

    test('returns suggestions, popular words, labels and health (AT-TOOL-004 to 007)', async () => {
      const suggestions = await api.suggest({ label, prefix: 'foo', num: 5, fields: ['title'] });
      assert.equal(suggestions.length, 5);
      assert.ok(suggestions.every(({ text, labels }) => text.endsWith(label) && labels.includes(label)));
      const sent = fess.requests.at(-1)?.query;
      assert.deepEqual([sent?.get('q'), sent?.get('num'), sent?.get('label')], ['foo', '5', label]);
      assert.deepEqual(sent?.getAll(version === '15.4' ? 'field' : 'fn'), ['title']);
      assert.deepEqual(await api.suggest({ label, prefix: 'zzz' }), []);
      const words = await api.popularWords({ label });
      assert.ok(words.length > 0 && words.every((word) => word.startsWith(label)));
      assert.deepEqual(
        (await api.labels()).map(({ value }) => value),
        ['finance', 'hr', 'policy'],
      );
      assert.deepEqual(await api.health(), { status: 'green', timedOut: false });
      fess.setHealth('red');
      assert.deepEqual(await api.health(), { status: 'red', timedOut: false });
      fess.setHealth('yellow');
      assert.deepEqual(await api.health(), { status: 'yellow', timedOut: false });
    });

    test('marks capped totals as inexact, and ends pages at the result window of 10,000', async () => {
      const many = generateCorpus({ labels: [label], documentsPerLabel: 10_020 }).documents;
      fess.setDocuments(many.map((document) => ({ ...document, content: 'test' })));
      const answer = await api.search({ label, query: 'test', start: 9990, num: 20 });
      assert.deepEqual(
        [answer.total, answer.isTotalExact, answer.num, answer.nextStart],
        [10_000, false, 10, undefined],
      );
    });

    test('a server that repeats searches with OR returns only results in the label', async (t) => {
      const open = await startFakeFess({ version, ...corpus, orSearchMinHitCount: 5 });
      t.after(() => open.close());
      const reported: string[] = [];
      const other = createFessApi({ ...client, baseUrl: open.url }, { onLabelOptional: () => reported.push('loose') });
      t.after(() => other.close());
      assert.equal(await other.detect(), version === '15.4' ? 'v1' : 'v2');
      assert.equal((await other.search({ label, query: 'test' })).total, 40);
      assert.equal((await other.search({ label, query: 'test' })).total, 40);
      assert.deepEqual(reported, []);
      const found = await other.search({ label, query: 'hr zzzz' });
      assert.deepEqual([found.total, found.hits], [0, []]);
      assert.equal((await other.document(docOf(label).docId, label)).docId, docOf(label).docId);
      await assertFails(other.document(docOf('hr').docId, label), { code: 'resource_not_found' });
      assert.deepEqual(reported, ['loose']);
    });

    test('finds a document of the label if the server searches again with OR', async (t) => {
      const open = await startFakeFess({ version, ...corpus, orSearchMinHitCount: 5 });
      t.after(() => open.close());
      const other = createFessApi({ ...client, baseUrl: open.url });
      t.after(() => other.close());
      // The label's last document: a search by label alone would list others first.
      const last = corpus.documents.findLast(({ labels }) => labels.includes(label))?.docId ?? '';
      assert.equal((await other.document(last, label)).docId, last);
    });

    test('withholds results of a server that drops the label, and informs the operator', async (t) => {
      const open = await startFakeFess({ version, ...corpus, dropsFilters: true });
      t.after(() => open.close());
      const other = createFessApi({ ...client, baseUrl: open.url });
      t.after(() => other.close());
      const withheld = { code: 'fess_error', data: { fault: 'label_not_applied' } };
      const error = await assertFails(other.search({ label, query: 'test' }), withheld);
      assert.match(error.message, /the operator must/);
      assert.doesNotMatch(error.message, /[Rr]ephrase/);
      await assertFails(other.document(docOf('hr').docId, label), { code: 'resource_not_found' });
      await assertFails(other.document(docOf(label).docId, label), withheld);
      await assertFails(other.search({ label, query: '*:*', facets: { field: ['label'] } }), withheld);
    });

    test('returns facets in requested order, without our own counts', async () => {
      const query = ['label:"finance"', 'report', 'budget', 'label:"finance"', 'NOT label:"finance"', 'zzzz OR'];
      const facets = { field: ['host', 'filetype', 'label', 'host'], query };
      const answer = await api.search({ label, query: 'test', facets });
      assert.deepEqual(
        answer.facets?.queries.map(({ value, count }) => [value, count]),
        [
          ['label:"finance"', 40],
          ['report', 5],
          ['budget', 5],
          ['label:"finance"', 40],
          ['NOT label:"finance"', 0],
          ['zzzz OR', 0],
        ],
      );
      assert.deepEqual(
        answer.facets?.fields.map(({ name }) => name),
        ['host', 'filetype', 'label', 'host'],
      );
      const plain = await api.search({ label, query: 'test', facets: { field: ['label'] } });
      assert.deepEqual(plain.facets?.queries, []);
    });
  });
}

test('withholds hits if one shows another label', async (t) => {
  const hit = (docId: string, more: object = {}) => ({ doc_id: docId, title: docId, url: 'http://a/', ...more });
  let data: object[] = [];
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ record_count: data.length, data }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const api = createFessApi({ ...client, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  t.after(() => api.close());
  data = [hit('a', { label: [label, 'hr'] }), hit('b', { label }), hit('c')];
  assert.equal((await api.search({ label, query: 'test' })).hits.length, 3);
  for (const foreign of [['hr'], [], 'hr']) {
    data = [hit('a', { label: [label] }), hit('b', { label: foreign })];
    await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'label_not_applied' } });
    await assertFails(api.document('b', label), { data: { fault: 'label_not_applied' } });
  }
});

test('follows a server that is upgraded from v1 to v2 at run time', async () => {
  const fess = await startFakeFess({ version: '15.4', ...corpus });
  const seen: string[] = [];
  const api = createFessApi({ ...client, baseUrl: fess.url }, { onVersion: (version) => seen.push(version) });
  const before = await api.search({ label, query: 'test' });
  fess.setVersion('15.8');
  const later = await api.search({ label, query: 'test' });
  const ids = (answer: typeof before) => answer.hits.map(({ docId }) => docId);
  assert.deepEqual(ids(later), ids(before));
  fess.setVersion('15.4');
  assert.equal((await api.labels()).length, 3);
  assert.deepEqual(seen, ['v2', 'v1']);
  api.close();
  await fess.close();
});

test('keeps a fixed version, and reports a server without any API', async () => {
  const fess = await startFakeFess({ version: '15.8', ...corpus });
  const fixed = createFessApi({ ...client, baseUrl: fess.url, fessApi: 'v1' });
  await assertFails(fixed.search({ label, query: 'test' }), {
    code: 'fess_error',
    data: { fault: 'api_missing', httpStatus: 302, endpoint: '/api/v1/documents' },
  });
  assert.equal(await fixed.detect(), undefined);
  fixed.close();
  await fess.close();
  const none = await startFakeFess({ version: '15.4', jsonDisabled: true });
  const api = createFessApi({ ...client, baseUrl: none.url });
  await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'api_missing' } });
  api.close();
  await none.close();
});

test('decodes entities in titles and fragments once', async () => {
  const content = `He said "test" & it's <b>5</b> &amp; more`;
  const fess = await startFakeFess({ version: '15.8', documents: [{ ...docOf(label), title: content, content }] });
  const api = createFessApi({ ...client, baseUrl: fess.url });
  const { hits } = await api.search({ label, query: 'test' });
  assert.equal(hits[0]?.fields['content_title'], content);
  assert.equal(hits[0]?.fields['content_description'], `${content.slice(0, 49)}...`);
  api.close();
  await fess.close();
});

test('reports a rejection by a healthy server with what the operator needs', async () => {
  const fess = await startFakeFess({ version: '15.4', ...corpus });
  const seen: object[] = [];
  const api = createFessApi({ ...client, baseUrl: fess.url }, { onRefusal: (refusal) => seen.push(refusal) });
  await assertFails(api.search({ label, query: 'test', sort: 'nothing.asc' }), { data: { fault: 'refused_request' } });
  const [refusal] = seen as { errorId: string; requestChars: number }[];
  assert.match(refusal?.errorId ?? '', /^[0-9a-f-]{36}$/);
  assert.ok((refusal?.requestChars ?? 0) > 50);
  fess.setHealth('down');
  const before = seen.length;
  await assertFails(api.search({ label, query: 'test' }), { data: { fault: 'engine_down' } });
  assert.equal(seen.length, before);
  api.close();
  await fess.close();
});

function docOf(wanted: string): FakeDocument {
  return documentWhere(({ labels, url }) => labels.includes(wanted) && url.startsWith('http'));
}

function fileOf(wanted: string): FakeDocument {
  return documentWhere(({ labels, url }) => labels.includes(wanted) && url.startsWith('file:'));
}

function documentWhere(holds: (document: FakeDocument) => boolean): FakeDocument {
  const found = corpus.documents.find(holds);
  assert.ok(found);
  return found;
}

async function assertFails(
  call: Promise<unknown>,
  expected: { code?: string; data?: Record<string, unknown> },
): Promise<{ message: string }> {
  const error = (await call.then(
    () => assert.fail('did not fail'),
    (reason: unknown) => reason,
  )) as { code: string; message: string; data: Record<string, unknown> };
  if (expected.code !== undefined) assert.equal(error.code, expected.code);
  for (const [name, value] of Object.entries(expected.data ?? {})) assert.deepEqual(error.data[name], value, name);
  return error;
}
