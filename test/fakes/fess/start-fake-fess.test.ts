import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateCorpus } from './corpus.ts';
import type { FakeDocument } from './fake-document.ts';
import { type FakeFess, startFakeFess } from './start-fake-fess.ts';

const corpus = generateCorpus();
const tokens = { salestoken: ['Rsales'] };

interface SearchBody {
  record_count: number;
  search_query: string;
  data: Record<string, unknown>[];
  [field: string]: unknown;
}

for (const version of ['15.4', '15.8'] as const) {
  describe(`Fess ${version}`, () => {
    let fess: FakeFess;
    before(async () => {
      fess = await startFakeFess({ version, ...corpus, tokens, scroll: true });
    });
    after(() => fess.close());

    const api = version === '15.4' ? '/api/v1' : '/api/v2';
    const get = (path: string, init: RequestInit = {}) => fetch(`${fess.url}${path}`, { redirect: 'manual', ...init });
    async function search(params: Record<string, string>): Promise<SearchBody> {
      const endpoint = version === '15.4' ? 'documents' : 'search';
      const response = await get(`${api}/${endpoint}?${new URLSearchParams(params)}`);
      assert.equal(response.status, 200);
      const body = (await response.json()) as { response?: SearchBody } & SearchBody;
      return body.response ?? body;
    }
    async function labelsFound(q: string, extra: Record<string, string> = {}): Promise<Set<string>> {
      const { data } = await search({ q, 'fields.label': 'finance', num: '100', ...extra });
      return new Set(data.map(({ doc_id }) => labelOf(corpus.documents, doc_id)));
    }

    test('a plain search stays in its label and echoes the joined query (reference §4.2)', async () => {
      const answer = await search({ q: 'test', 'fields.label': 'finance', num: '100' });
      assert.equal(answer.record_count, 40);
      assert.equal(answer.search_query, 'test label:"finance"');
      assert.deepEqual(await labelsFound('test'), new Set(['finance']));
    });

    const leaking = ['test OR', 'test ||', 'test NOT', 'test AND NOT', 'test: OR', 'NOT', '*:* OR', 'test\tOR'];
    for (const q of leaking) {
      test(`${JSON.stringify(q)} disables the label (reference §4.3)`, async () => {
        const found = await labelsFound(q);
        assert.ok(found.has('hr') && found.has('policy'), `found only ${[...found]}`);
      });
    }

    test('a trailing backslash turns the filter into a search for its own text', async () => {
      const text = { ...firstDocument('hr'), content: 'test label finance', docId: 'f'.repeat(32) };
      fess.setDocuments([...corpus.documents, text]);
      const { data, search_query } = await search({ q: 'test \\', 'fields.label': 'finance' });
      fess.setDocuments(corpus.documents);
      assert.equal(search_query, 'test \\ label:"finance"');
      assert.deepEqual(
        data.map(({ doc_id }) => doc_id),
        [text.docId],
      );
    });

    test('a sort with text in it closes a parenthesis that the query opened', async () => {
      const found = await labelsFound('(test', { sort: 'score.desc) OR test' });
      assert.ok(found.has('hr'));
    });

    test('a label value with a quote disables the filter', async () => {
      const { data } = await search({ q: 'test', 'fields.label': 'none" OR test OR label:"x', num: '100' });
      assert.ok(data.some(({ doc_id }) => labelOf(corpus.documents, doc_id) === 'hr'));
    });

    const safe = [
      'test OR report',
      'test AND',
      'test -',
      'test !',
      '(test OR)',
      'a) OR (b',
      'test label:"hr"',
      '-zzz',
      '*:*',
    ];
    for (const q of safe) {
      test(`${JSON.stringify(q)} does not leave the label (reference §4.3)`, async () => {
        const found = await labelsFound(q);
        found.delete('finance');
        assert.deepEqual(found, new Set());
      });
    }

    test('rejects odd quotes, unknown sorts and a window past 10,000', async () => {
      const endpoint = `${api}/${version === '15.4' ? 'documents' : 'search'}`;
      for (const query of ['q=test+"x', 'q=test&sort=nothing', 'q=test&start=9990&num=20', 'q=x&start=100001']) {
        const response = await get(`${endpoint}?${query.replaceAll('"', '%22')}`);
        assert.equal(response.status, 400, query);
      }
    });

    test('sorts in ascending order by default and omits the score', async () => {
      const { data } = await search({ q: 'test', 'fields.label': 'finance', sort: 'created', num: '3' });
      assert.deepEqual(
        data.map(({ filename }) => filename),
        ['0.html', '1.html', '2.html'],
      );
      assert.equal(data[0]?.['score'], undefined);
    });

    test('num defaults to 10, and is 100 when out of range', async () => {
      assert.equal((await search({ q: 'test' })).data.length, 10);
      assert.equal((await search({ q: 'test', num: '101' })).data.length, 100);
    });

    test('page numbers follow the arithmetic of the server (reference §3.1)', async () => {
      const { page_number, page_count, next_page, prev_page, end_record_number } = await search({
        q: 'test',
        'fields.label': 'hr',
        num: '15',
        start: '30',
      });
      assert.deepEqual(
        { page_number, page_count, next_page, prev_page, end_record_number },
        { page_number: 3, page_count: 3, next_page: false, prev_page: true, end_record_number: 40 },
      );
      const none = await search({ q: 'zzz' });
      assert.deepEqual([none['page_count'], none['page_numbers'], none['start_record_number']], [1, ['1'], 0]);
    });

    test('facets count the found documents; an unknown field gives an empty answer', async () => {
      const answer = await search({ q: 'test', 'facet.field': 'label', 'facet.query': 'budget' });
      assert.deepEqual(answer['facet_field'], [
        { name: 'label', result: ['finance', 'hr', 'policy'].map((value) => ({ value, count: 40 })) },
      ]);
      assert.deepEqual(answer['facet_query'], [{ value: 'budget', count: 15 }]);
      assert.equal((await search({ q: 'test', 'facet.field': 'nothing' })).record_count, 0);
    });

    test('facet queries are ordered by hash; a duplicate gives an empty answer', async () => {
      const asked = ['label:"finance"', 'NOT label:"finance"', 'budget', 'report'];
      const facets = async (queries: string[]) => {
        const params = new URLSearchParams({ q: 'test', num: '1' });
        for (const query of queries) params.append('facet.query', query);
        const endpoint = version === '15.4' ? 'documents' : 'search';
        const body = (await (await get(`${api}/${endpoint}?${params}`)).json()) as {
          response?: SearchBody;
        } & SearchBody;
        return body.response ?? body;
      };
      const counts = (await facets(asked))['facet_query'] as { value: string; count: number }[];
      const values = counts.map(({ value }) => value);
      assert.deepEqual(new Set(values), new Set(asked));
      assert.notDeepEqual(values, asked);
      assert.equal(counts.find(({ value }) => value.startsWith('NOT'))?.count, 80);
      assert.equal((await facets(['budget', 'budget'])).record_count, 0);
    });

    test('totals stop at 10,000, facet counts do not', async () => {
      const many = generateCorpus({ labels: ['finance'], documentsPerLabel: 10_020 }).documents;
      fess.setDocuments(many.map((document) => ({ ...document, content: 'test' })));
      const answer = await search({ q: 'test', 'facet.query': 'label:"finance"', num: '1' });
      fess.setDocuments(corpus.documents);
      assert.deepEqual(
        [answer.record_count, answer['record_count_relation'], answer['facet_query']],
        [10_000, 'GREATER_THAN_OR_EQUAL_TO', [{ value: 'label:"finance"', count: 10_020 }]],
      );
    });

    test('reports health in the format of each API', async () => {
      const shape = async () => (await get(`${api}/health`)).json();
      const green = { response: { status: 0, engine: { status: 'GREEN', ping_status: 0 } } };
      assert.deepEqual(await shape(), version === '15.4' ? { data: { status: 'green', timed_out: false } } : green);
    });

    test('documents from the admin API have no created date, and sort last by it', async () => {
      const { data } = await search({ q: 'test', 'fields.label': 'hr', sort: 'created.asc', num: '100' });
      assert.deepEqual(
        data.map(({ created }) => created !== undefined),
        [...Array(32).fill(true), ...Array(8).fill(false)],
      );
    });

    test('an emoji is a word', async () => {
      fess.setDocuments([{ ...firstDocument('hr'), content: 'A party 🎉 for all' }]);
      assert.equal((await search({ q: '🎉' })).record_count, 1);
      fess.setDocuments(corpus.documents);
    });

    test('geo filters by distance', async () => {
      const near = { 'geo.location.point': '52.5,13.4', 'geo.location.distance': '1km' };
      assert.equal((await search({ q: 'test', 'fields.label': 'hr', ...near })).record_count, 1);
    });

    test('a search while the engine is down looks like no hits; only health reveals it (reference §0.2)', async () => {
      fess.setHealth('down');
      const answer = await search({ q: 'test', 'fields.label': 'finance' });
      assert.deepEqual([answer.record_count, answer['partial'], answer.data], [0, false, []]);
      assert.equal((await get(`${api}/health`)).status, 500);
      const statuses = ['suggest-words?q=a', 'popular-words', 'labels'].map(
        async (path) => (await get(`${api}/${path}`)).status,
      );
      assert.deepEqual(await Promise.all(statuses), [500, 200, 200]);
      fess.setHealth('red');
      assert.equal((await get(`${api}/health`)).status, 503);
      fess.setHealth('green');
      assert.equal((await get(`${api}/health`)).status, 200);
    });

    test('roles decide what is found; a bad token is rejected', async () => {
      const secret: FakeDocument = { ...firstDocument('hr'), docId: '0'.repeat(32), roles: ['Rsales'] };
      fess.setDocuments([...corpus.documents, secret]);
      const endpoint = `${api}/${version === '15.4' ? 'documents' : 'search'}?q=doc_id:${secret.docId}`;
      const count = async (authorization?: string) => {
        const response = await get(endpoint, authorization === undefined ? {} : { headers: { authorization } });
        const text = await response.text();
        return response.status === 200 ? /"record_count":(\d+)/.exec(text)?.[1] : response.status;
      };
      assert.equal(await count(), '0');
      assert.equal(await count('Bearer salestoken'), '1');
      assert.equal(await count('salestoken'), '1');
      assert.equal(await count('Bearer wrong'), 401);
      assert.equal(await count('Basic dXNlcjpwYXNz'), 401);
      fess.setDocuments(corpus.documents);
    });

    test('the other API generation is a redirect to an HTML page with 200 (reference §0.18)', async () => {
      const response = await get(version === '15.4' ? '/api/v2/health' : '/api/v1/health');
      assert.equal(response.status, 302);
      assert.match(response.headers.get('location') ?? '', /^\/error\/notfound\/\?url=/);
      const followed = await get(response.headers.get('location') ?? '');
      assert.equal(followed.status, 200);
      assert.match(followed.headers.get('content-type') ?? '', /html/);
    });

    test('/cache and /go ignore labels', async () => {
      const page = firstDocument('hr');
      const cached = await (await get(`/cache/?docId=${page.docId}`)).text();
      assert.match(cached, /This is a cache of[\s\S]*Cached page of hr/);
      const file = corpus.documents.find(({ url }) => url.startsWith('file:')) as FakeDocument;
      const bytes = await (await get(`/go/?docId=${file.docId}&queryId=q&rt=1`)).text();
      assert.match(bytes, /^File of finance/);
      const web = await get(`/go/?docId=${page.docId}&queryId=q&rt=1`);
      assert.deepEqual([web.status, web.headers.get('location')], [302, page.url]);
      assert.equal((await get(`/go/?docId=${page.docId}`)).headers.get('location'), '/error/');
    });

    test('filters suggestions and popular words by label and field', async () => {
      const field = version === '15.4' ? 'field' : 'fn';
      const suggested = await (await get(`${api}/suggest-words?q=foo&label=hr&${field}=title&num=3`)).text();
      assert.match(suggested, /foo report hr/);
      assert.doesNotMatch(suggested, /finance/);
      const ignored = await (await get(`${api}/suggest-words?q=foo&label=hr&fields=content`)).text();
      assert.match(ignored, /foo report hr/);
      const popular = await (await get(`${api}/popular-words?label=hr`)).text();
      assert.match(popular, /hrbudget/);
      assert.doesNotMatch(popular, /finance/);
    });

    test('scroll search streams one object per line', async () => {
      const text = await (await get(`${api}/documents/all?q=test&fields.label=hr`)).text();
      assert.equal(text.trimEnd().split('\n').length, 40);
    });
  });
}

test('a server that repeats a query with OR, because it has few hits, ignores the label (reference §4.3)', async () => {
  const fess = await startFakeFess({ version: '15.4', ...corpus, orSearchMinHitCount: 0 });
  const response = await fetch(`${fess.url}/api/v1/documents?q=test+nowhere&fields.label=nothing&num=100`);
  const { record_count } = (await response.json()) as SearchBody;
  await fess.close();
  assert.equal(record_count, 120);
});

function labelOf(documents: readonly FakeDocument[], docId: unknown): string {
  return documents.find((document) => document.docId === docId)?.labels[0] ?? 'unknown';
}

function firstDocument(label: string): FakeDocument {
  const found = corpus.documents.find((document) => document.labels.includes(label));
  assert.ok(found);
  return found;
}
