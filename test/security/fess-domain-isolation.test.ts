import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { isCarrelError } from '../../src/base/errors.ts';
import { createFessApi, type DetectingFessApi } from '../../src/toolsets/fess/fess-api/create-fess-api.ts';
import { searchParameters } from '../../src/toolsets/fess/fess-api/search-parameters.ts';
import { assembleQuery } from '../fakes/fess/assemble-query.ts';
import { generateCorpus } from '../fakes/fess/corpus.ts';
import type { FakeDocument } from '../fakes/fess/fake-document.ts';
import { QuerySyntaxError } from '../fakes/fess/lucene/lexer.ts';
import { parseQuery, type Query } from '../fakes/fess/lucene/parser.ts';
import { searchIndex } from '../fakes/fess/search-index.ts';
import { type FakeFess, startFakeFess } from '../fakes/fess/start-fake-fess.ts';
import { anyCharacter } from '../support/any-character.ts';
import { size } from '../support/sizes.ts';

// 000 §7.1: each bridge operates exclusively on its own knowledge domain. Fess appends the label to the query text, so this
// must hold for every text. Documents of other labels contain all of the generator's words, so an escaping query finds them.

const label = 'finance';
const seed = 20_261_115;
const queries = size({ quick: 800, full: 10_000 });
const vocabulary = [
  'test',
  '🎉',
  'report',
  'label',
  'finance',
  'or',
  'not',
  'and',
  'sort',
  'foo',
  'hr',
  'x',
  'to',
  '世界',
];
const documents: FakeDocument[] = generateCorpus({ documentsPerLabel: 3 }).documents.map((document) => ({
  ...document,
  content: `${vocabulary.join(' ')} ${document.content.slice(0, 100)}`,
}));

const operators = [
  'OR',
  'AND',
  'NOT',
  '||',
  '&&',
  '!',
  '+',
  '-',
  '(',
  ')',
  '"',
  '\\',
  '\\\\',
  '\\"',
  '^2',
  '~',
  '~1',
  '/',
];
const fragments = [
  ...vocabulary,
  ...operators,
  ...[
    '[',
    ']',
    '{',
    '}',
    ':',
    '*',
    '?',
    '*:*',
    'label:',
    'label:"hr"',
    'title:',
    'sort:',
    'sort:score.desc',
    'doc_id:',
  ],
  ...[
    '[a TO b]',
    'timestamp:[',
    'TO',
    '\\u0022',
    '\\u',
    'label:"finance"',
    'allintitle:',
    'allinurl:',
    '\\OR',
    'O\\R',
    'OR\\',
  ],
  ...[
    'or',
    'Or',
    'ＯＲ',
    '🎉',
    '\u200d',
    '❤️',
    '\u3000',
    '\u00a0',
    '\u2028',
    '\t',
    '\n',
    '\u0000',
    '\ud800',
    '¶',
    '\ufffd',
    ';',
    "'",
    '<',
    '%',
    '#',
  ],
];
const glued = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 9 }).map((parts) => parts.join(''));
const spaced = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 9 }).map((parts) => parts.join(' '));
const ends = fc
  .tuple(
    fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 3 }),
    fc.array(fc.constantFrom('OR', '||', 'NOT', 'AND NOT', '\\', ...operators), { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', ' ', '\t', '\u3000'),
  )
  .map(([words, last, blank]) => `${[...words, ...last].join(' ')}${blank}`);
const hostile = fc.oneof(
  { weight: 3, arbitrary: ends },
  { weight: 2, arbitrary: spaced },
  { weight: 2, arbitrary: glued },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
);

const ownUrls = new Set(documents.filter(({ labels }) => labels.includes(label)).map(({ url }) => url));
const foreignUrls = documents.map(({ url }) => url).filter((url) => !ownUrls.has(url));

test(`${queries} hostile queries: Fess parses the label as a required clause, at both of its attempts`, () => {
  let sent = 0;
  fc.assert(
    fc.property(hostile, (query) => {
      const params = guarded(query);
      if (params === null) return;
      sent += 1;
      assert.ok(requiresLabel(parseQuery(withoutHead(assembleQuery(params, false)))), 'at the first attempt');
      assert.ok(secondAttemptIsSafe(params), 'at the second attempt');
    }),
    { numRuns: queries, seed },
  );
  // The rest contain no word and are rejected. A guard that rejects everything would also isolate.
  assert.ok(sent > queries / 2, `only ${sent} queries were sent at all`);
});

test(`${queries} hostile queries return no document of another label`, () => {
  fc.assert(
    fc.property(hostile, (query) => {
      const params = guarded(query);
      if (params !== null) assert.deepEqual(foreignLabels(params), []);
    }),
    { numRuns: queries, seed: seed + 1 },
  );
});

test('the same queries leak without the guard, so the tests above can fail', () => {
  const leaks = fc
    .sample(hostile, { numRuns: queries / 5, seed })
    .filter(
      (q) => foreignLabels(new URLSearchParams({ q: q.toWellFormed(), 'fields.label': label, num: '100' })).length > 0,
    );
  assert.ok(leaks.length > queries / 100, `only ${leaks.length} leak`);
});

for (const version of ['15.4', '15.8'] as const) {
  describe(`over HTTP, Fess ${version}`, () => {
    let fess: FakeFess;
    let api: DetectingFessApi;
    before(async () => {
      fess = await startFakeFess({ version, documents });
      api = createFessApi({ baseUrl: fess.url, userAgent: 'carrel/test', timeoutMs: 10_000 });
      await api.detect();
    });
    after(async () => {
      api.close();
      await fess.close();
    });
    const labelsOf = (docIds: string[]) =>
      docIds.flatMap((docId) => documents.find((document) => document.docId === docId)?.labels ?? []);
    const unlessRefused = async <T>(call: Promise<T>): Promise<T | null> => {
      try {
        return await call;
      } catch (error) {
        assert.ok(
          isCarrelError(error) && ['invalid_arguments', 'fess_error', 'resource_not_found'].includes(error.code),
        );
        // The tripwire is for unknown servers; on this one the guard alone must suffice.
        assert.notEqual(error.data['fault'], 'label_not_applied');
        return null;
      }
    };

    test('no query, sort or facet reveals a document of another label', async () => {
      const request = fc.record(
        {
          query: hostile,
          sort: fc.oneof(fc.constantFrom('score.desc', 'created.asc'), spaced),
          lang: fc.oneof(fc.constant('en'), spaced),
          facets: fc.record({
            field: fc.constantFrom(['label'], ['host'], ['url'], ['url', 'filetype'], ['content_length']),
            query: fc.array(spaced, { maxLength: 2 }),
            size: fc.constantFrom(1, 1000),
            minDocCount: fc.constantFrom(1, 0, 2),
            sort: fc.constantFrom('term.desc', 'count.asc'),
          }),
        },
        { requiredKeys: ['query'] },
      );
      await fc.assert(
        fc.asyncProperty(request, async (input) => {
          const answer = await unlessRefused(api.search({ label, num: 100, ...input }));
          const found = new Set(labelsOf(answer?.hits.map(({ docId }) => docId) ?? []));
          found.delete(label);
          assert.deepEqual([...found], []);
          const counted = answer?.facets?.fields.find(({ name }) => name === 'label')?.values ?? [];
          assert.ok(counted.every(({ value }) => value === label));
          const urls = answer?.facets?.fields.find(({ name }) => name === 'url')?.values ?? [];
          assert.ok(urls.every(({ value }) => ownUrls.has(value)));
        }),
        { numRuns: size({ quick: 300, full: 1_500 }), seed },
      );
    });

    // Like a real 15.5 and 15.7: the engine lists terms of documents that don't match, readable or not.
    test('values of other domains stay inside, even if the server lists them', async (t) => {
      const leaky = await startFakeFess({ version, documents, listsEmptyBuckets: true });
      t.after(() => leaky.close());
      const bridge = createFessApi({ baseUrl: leaky.url, userAgent: 'carrel/test', timeoutMs: 10_000 });
      t.after(() => bridge.close());
      for (const query of ['nosuchword', 'report']) {
        const field = ['url', 'label', 'filetype', 'content_length', 'host'];
        const facets = { field, size: 1000, sort: 'term.desc' };
        const answer = await bridge.search({ label, query, facets });
        for (const { name, values } of answer.facets?.fields ?? []) {
          assert.ok(
            values.every(({ count }) => count > 0),
            name,
          );
          if (name === 'url') assert.ok(values.every(({ value }) => ownUrls.has(value)));
          if (query === 'nosuchword') assert.deepEqual(values, [], name);
        }
        const raw = new URLSearchParams({
          q: query,
          'fields.label': label,
          'facet.field': 'url',
          'facet.size': '1000',
        });
        const path = version === '15.4' ? '/api/v1/documents' : '/api/v2/search';
        const sent = (await (await fetch(`${leaky.url}${path}?${raw}`)).text()).replaceAll('\\/', '/');
        assert.ok(
          foreignUrls.some((url) => sent.includes(url)),
          sent,
        );
      }
      await assert.rejects(bridge.search({ label, query: 'report', facets: { field: ['url'], minDocCount: 0 } }), {
        code: 'invalid_arguments',
      });
    });

    test('no document id and no label reveals a document of another label', async () => {
      const ids = documents.map(({ docId }) => docId);
      const docIds = fc.oneof(
        fc.constantFrom(...ids),
        fc.tuple(fc.constantFrom(...ids), spaced).map((parts) => parts.join('')),
        spaced,
      );
      await fc.assert(
        fc.asyncProperty(
          docIds,
          fc.oneof(fc.constant(label), fc.constant(`${label}" OR label:"hr`), spaced),
          async (docId, domain) => {
            const found = await unlessRefused(api.document(docId, domain));
            if (found !== null) assert.deepEqual(labelsOf([found.docId]), [domain]);
          },
        ),
        { numRuns: size({ quick: 150, full: 600 }), seed },
      );
    });
  });
}

function guarded(query: string): URLSearchParams | null {
  try {
    return searchParameters({ label, query, num: 100 }).params;
  } catch (error) {
    assert.ok(isCarrelError(error) && error.code === 'invalid_arguments', String(error));
    return null;
  }
}

function foreignLabels(params: URLSearchParams): string[] {
  try {
    const { hits } = searchIndex(documents, params, new Set(['Rguest']), { orSearchMinHitCount: -1 });
    return hits.flatMap(({ document }) => document.labels).filter((found) => found !== label);
  } catch {
    return [];
  }
}

/** A 400 is also safe. */
function secondAttemptIsSafe(params: URLSearchParams): boolean {
  try {
    return requiresLabel(parseQuery(withoutHead(assembleQuery(params, true))));
  } catch (error) {
    return error instanceof QuerySyntaxError;
  }
}

function requiresLabel(query: Query): boolean {
  const clauses = query.kind === 'boolean' ? query.clauses : [{ occur: 'must', query }];
  return clauses.some(
    ({ occur, query: { ...inner } }) =>
      occur === 'must' && inner.kind === 'term' && inner.field === 'label' && inner.text === label,
  );
}

function withoutHead(text: string): string {
  return text.replace(/^(?:allintitle|allinurl):/, '');
}
