import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { openWorld, type World, wholeFile } from '../acceptance/fess/bridge.ts';
import { size } from '../support/sizes.ts';

// 000 §7.1 through the built program: no argument, cursor or URI returns a document of another label. Every document contains
// `test`, so an escaping query finds something; `secret` words occur only in other labels.

const attacks = [
  'test OR',
  'test ||',
  'test NOT',
  'test AND NOT',
  'test: OR',
  'test \\',
  'test" OR "',
  'a) OR (test',
  '(test OR',
  'test OR label:hr',
  'label:hr',
  'label:"hr" OR test',
  '*:* OR',
  '* NOT',
  'test OR\u3000',
  'test\tOR\n',
  'hr OR',
  'NOT',
  'test sort:score.desc) OR (test',
  'allintitle:hr OR',
  'test -label:finance OR',
  '\\',
  '"',
  'test /.*/ OR',
  'test\u0000OR',
];

for (const version of ['15.4', '15.8'] as const) {
  describe(`Fess ${version}`, () => {
    const owner = wholeFile();
    let world: World;
    let ours: Set<string>;
    before(async () => {
      world = await openWorld(owner, {
        version,
        documentsPerLabel: 8,
        config: { contentFetch: { viaFess: true } },
      });
      ours = new Set(
        world.corpus.documents.filter(({ labels }) => labels.includes('finance')).map(({ docId }) => docId),
      );
    });
    const assertOurs = (answer: unknown): void => {
      const text = JSON.stringify(answer);
      for (const { docId, labels } of world.corpus.documents) {
        if (!labels.includes('finance'))
          assert.ok(!text.includes(docId), `${docId} of ${labels} in ${text.slice(0, 500)}`);
      }
      for (const foreign of ['of hr', 'of policy']) assert.ok(!text.includes(foreign), text.slice(0, 500));
    };

    test('no query, sort, facet or language reveals a document of another label', async () => {
      for (const attack of attacks) {
        assertOurs(await world.peer.call('search', { query: attack, pageSize: 100 }));
        assertOurs(await world.peer.call('search', { query: 'test', sort: attack }));
        assertOurs(await world.peer.call('search', { query: 'test', lang: attack }));
        const counted = await world.peer.call('search', {
          query: 'test',
          facets: { field: ['label'], query: [attack] },
        });
        assertOurs(counted);
        const facets = counted.result?.['structuredContent'] as {
          facets?: { fields: { values: { value: string }[] }[] };
        };
        const values = facets?.facets?.fields.flatMap((field) => field.values.map(({ value }) => value)) ?? [];
        assert.ok(
          values.every((value) => value === 'finance'),
          values.join(),
        );
      }
    });

    test('generated queries reveal no document of another label', async () => {
      const part = fc.constantFrom(
        'test',
        'hr',
        'OR',
        'NOT',
        '||',
        '(',
        ')',
        '"',
        '\\',
        'label:',
        '*',
        'AND',
        '-',
        ':',
      );
      const query = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(' '));
      await fc.assert(
        fc.asyncProperty(query, async (text) => assertOurs(await world.peer.call('search', { query: text }))),
        { numRuns: size({ quick: 80, full: 300 }), seed: 20_261_115 },
      );
    });

    test('suggestions, popular words and completions stay within the domain', async () => {
      for (const prefix of ['foo', 'h', 'hr', 'policy', 'f']) {
        const answer = await world.peer.call('suggest', { prefix, num: 100 });
        assert.ok(!/hr(?:report|budget)|(?:report|budget) (?:hr|policy)|policy/.test(listed(answer, 'suggestions')));
      }
      assert.ok(!/hr|policy/.test(listed(await world.peer.call('popular_words'), 'words')));
      for (const value of ['', 'hr', 'test OR', 'policy', 'f']) {
        const argument = { name: 'docId', value };
        const ref = { type: 'ref/resource', uri: 'fess://finance/doc/{docId}' };
        assertOurs(await world.peer.request('completion/complete', { ref, argument }));
      }
    });

    test('no document id, URI or cursor reads a document of another label', async () => {
      const foreign = world.corpus.documents.filter(({ docId }) => !ours.has(docId)).slice(0, 4);
      for (const { docId } of foreign) {
        for (const uri of [
          `fess://finance/doc/${docId}`,
          `fess://finance/doc/${docId}/content`,
          `fess://hr/doc/${docId}`,
          `fess://finance/doc/../doc/${docId}`,
          `fess://finance/doc/%22%20OR%20doc_id:${docId}`,
        ]) {
          const answer = await world.peer.request('resources/read', { uri });
          assert.ok(answer.error, uri);
          assert.ok(!JSON.stringify(answer).includes('of hr'));
        }
        for (const attempt of [docId, `x" OR doc_id:"${docId}`, `${docId}" OR "`]) {
          assert.ok((await world.peer.call('read', { docId: attempt })).error, attempt);
        }
      }
      const gone = world.fess.requests.filter(({ path }) => /cache|\/go\//.test(path));
      assert.deepEqual(gone, [], 'Fess was never asked for the copy of one of them');
    });
  });
}

test('a server that loses the label gives nothing away through the program, and the message is for its operator', async (t) => {
  const { peer } = await openWorld(t, { fess: { dropsFilters: true } });
  const answer = await peer.call('search', { query: 'test' });
  assert.equal(answer.error?.data?.['fault'], 'label_not_applied');
  assert.match(answer.error?.message ?? '', /not the query: the operator must set query\.orsearch\.min\.hit\.count/);
  assert.ok(!JSON.stringify(answer).includes('of hr'));
});

function listed(answer: { result?: Record<string, unknown> }, key: string): string {
  const data = answer.result?.['structuredContent'] as Record<string, unknown> | undefined;
  return JSON.stringify(data?.[key]);
}
