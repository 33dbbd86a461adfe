import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { createFessApi } from '../../src/toolsets/fess/fess-api/create-fess-api.ts';
import { dataOf, openWorld, type World, wholeFile } from '../acceptance/fess/bridge.ts';
import { generateCorpus } from '../fakes/fess/corpus.ts';
import type { FakeDocument } from '../fakes/fess/fake-document.ts';
import { startFakeFess } from '../fakes/fess/start-fake-fess.ts';
import { carrelProgram } from '../support/child-program.ts';
import { size as sizeOf } from '../support/sizes.ts';
import { startStdioClient } from '../support/stdio-client.ts';

// 000 §7.1 on the hardest server: `query.orsearch.min.hit.count` makes the label optional when little is found. A domain with
// more than 10,000 documents hides that, because totals stop there.

const small = generateCorpus({ labels: ['hr', 'policy'], documentsPerLabel: 3 });
const foreign = small.documents.map((document) => ({ ...document, content: `${document.content} zebrafish` }));
const large: FakeDocument[] = generateCorpus({ labels: ['finance'], documentsPerLabel: 10_500 }).documents.map(
  (document) => ({ ...document, content: document.content.slice(0, 60) }),
);
const fish = { ...large[4_000], content: 'Two zebrafish of the finance department' } as FakeDocument;

const cases = [
  { version: '15.4', size: 10_500 },
  { version: '15.8', size: 5 },
  { version: '15.8', size: 10_500 },
] as const;

for (const { version, size } of cases.slice(0, sizeOf({ quick: 2, full: 3 }))) {
  describe(`Fess ${version}, ${size} documents in the domain`, () => {
    const owner = wholeFile();
    const ours = size === 5 ? large.slice(0, 4).concat(fish) : large.with(4_000, fish);
    let world: World;
    before(async () => {
      const fess = {
        documents: [...foreign, ...ours],
        words: generateCorpus().words,
        orSearchMinHitCount: 10,
      };
      world = await openWorld(owner, { version, fess, config: { contentFetch: { viaFess: true } } });
    });
    const assertOurs = (answer: unknown): void => {
      const text = JSON.stringify(answer);
      for (const { docId, labels } of foreign) {
        assert.ok(!text.includes(docId), `${docId} of ${labels} in ${text.slice(0, 500)}`);
      }
      for (const other of ['of hr', 'of policy', 'the hr', 'the policy'])
        assert.ok(!text.includes(other), text.slice(0, 500));
    };

    test('searches and their facets show the documents of the domain, and only those', async () => {
      const found = dataOf(await world.peer.call('search', { query: 'zebrafish', pageSize: 100 }));
      assert.deepEqual(
        [found['total'], (found['results'] as { doc_id: string }[]).map(({ doc_id: docId }) => docId)],
        [1, [fish.docId]],
      );
      for (const query of [
        'zebrafish report',
        'zebrafish OR hr',
        '"hr department"',
        'label:hr',
        'title:hr -finance',
        'hr*',
      ]) {
        const facets = { field: ['label'], query: ['zebrafish', 'label:hr'] };
        const answer = await world.peer.call('search', { query, pageSize: 100, facets });
        assertOurs(answer);
        const { fields, queries } = dataOf(answer)['facets'] as {
          fields: { values: { value: string }[] }[];
          queries: { value: string; count: number }[];
        };
        assert.ok(fields.flatMap(({ values }) => values).every(({ value }) => value === 'finance'));
        assert.equal(queries.find(({ value }) => value === 'label:hr')?.count, 0);
      }
    });

    test('foreign documents are not found, by resources and by the read tool', async () => {
      for (const { docId } of foreign) {
        for (const uri of [`fess://finance/doc/${docId}`, `fess://finance/doc/${docId}/content`]) {
          assert.equal((await world.peer.request('resources/read', { uri })).error?.code, -32_002, uri);
        }
        assert.equal((await world.peer.call('read', { docId })).error?.data?.['code'], 'resource_not_found');
      }
      const gone = world.fess.requests.filter(({ path }) => /cache|\/go\//.test(path));
      assert.deepEqual(gone, [], 'Fess was never asked for the copy of one of them');
    });

    test('finds documents of the domain', async () => {
      for (const { docId } of [ours[0], fish, ours.at(-1)] as FakeDocument[]) {
        const read = await world.peer.request('resources/read', { uri: `fess://finance/doc/${docId}` });
        const text = (read.result as { contents: { text: string }[] }).contents[0]?.text ?? '';
        assert.equal(JSON.parse(text).doc_id, docId);
        assert.equal(dataOf(await world.peer.call('read', { docId }))['doc_id'], docId);
      }
    });

    test('resource lists and completions contain only documents of the domain', async () => {
      let cursor: string | undefined;
      let listed = 0;
      // Three pages show as much as the last ones.
      for (let page = 0; page < 3 && (page === 0 || cursor !== undefined); page += 1) {
        const answer = await world.peer.request('resources/list', cursor === undefined ? {} : { cursor });
        assertOurs(answer);
        cursor = answer.result?.['nextCursor'] as string | undefined;
        listed += (answer.result as { resources: unknown[] }).resources.length;
      }
      assert.equal(listed, 2 * Math.min(size, 300));
      for (const value of ['', 'zebrafish', 'hr', foreign[0]?.docId.slice(0, 8) ?? '']) {
        const argument = { name: 'docId', value };
        const ref = { type: 'ref/resource', uri: 'fess://finance/doc/{docId}' };
        assertOurs(await world.peer.request('completion/complete', { ref, argument }));
        const prompt = { type: 'ref/prompt', name: 'fess_finance_research' };
        assertOurs(
          await world.peer.request('completion/complete', { ref: prompt, argument: { name: 'question', value } }),
        );
        assertOurs(await world.peer.call('suggest', { prefix: value || 'foo' }));
      }
    });

    test('find returns only documents of the domain', async (t) => {
      const client = startStdioClient(carrelProgram, ['serve', '--toolsets', 'fess,find'], {
        HOME: world.home,
        CARREL_HOME: join(world.home, 'data'),
      });
      t.after(() => client.end());
      await client.handshake();
      for (const query of ['zebrafish', 'zebrafish hr']) {
        const call = { name: 'find', arguments: { query, sources: ['fess_finance'] } };
        const answer = await client.request(`find ${query}`, 'tools/call', call);
        assertOurs(answer);
        assert.ok(JSON.stringify(answer).includes(fish.docId));
      }
    });

    test('the operator is informed once', () => {
      const log = readFileSync(join(world.home, '.mcp-feiss', 'log', 'server.log'), 'utf8');
      assert.equal(log.split('query.orsearch.min.hit.count').length, 2, log);
    });
  });
}

// Seen on a real server with `query.orsearch.min.hit.count=1`: a query without matches returned the whole domain.
for (const version of ['15.4', '15.8'] as const) {
  test(`Fess ${version}: a query that matches nothing answers nothing, on a fresh bridge and in strict mode`, async (t) => {
    const fess = await startFakeFess({
      version,
      documents: [...foreign, ...large.slice(0, 40), fish],
      orSearchMinHitCount: 1,
    });
    t.after(() => fess.close());
    let reports = 0;
    const api = createFessApi(
      { baseUrl: fess.url, userAgent: 'carrel/test', timeoutMs: 10_000 },
      { onLabelOptional: () => reports++ },
    );
    t.after(() => api.close());
    const total = async (query: string) => (await api.search({ label: 'finance', query })).total;
    assert.equal(await total('finance'), 41, 'the search that finds much is not repeated by Fess');
    assert.equal(reports, 0);
    assert.equal(await total('nosuchword'), 0);
    assert.equal(reports, 1);
    for (const [query, expected] of Object.entries({
      'nosuchword OR nosuchother': 0,
      'zebrafish OR nosuchword': 1,
      '"nosuchword OR zebrafish"': 0,
      '(nosuchword) || nosuchother': 0,
      'nosuchword OR NOT finance': 0,
      'allintitle:nosuchword': 0,
      'title:nosuchword OR zebrafish': 1,
    }))
      assert.equal(await total(query), expected, query);
    await assert.rejects(total('x'.repeat(990)), { code: 'invalid_arguments', message: /^Shorten the query/ });
    assert.equal(reports, 1);
  });

  test(`Fess ${version}: the first query may be uncountable`, async (t) => {
    const fess = await startFakeFess({
      version,
      documents: [...foreign, ...large.slice(0, 40)],
      orSearchMinHitCount: 1,
    });
    t.after(() => fess.close());
    const api = createFessApi({ baseUrl: fess.url, userAgent: 'carrel/test', timeoutMs: 10_000 });
    t.after(() => api.close());
    assert.equal((await api.search({ label: 'finance', query: 'allintitle:nosuchword' })).total, 0);
    assert.equal((await api.search({ label: 'finance', query: `nosuchword ${'語'.repeat(400)}` })).total, 0);
  });
}
