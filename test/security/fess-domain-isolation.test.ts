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

// 000 §7.1: each bridge operates exclusively on its own knowledge domain. Fess glues the label onto the query text, so
// this has to hold for every text. The documents of the other labels hold all words of the generator, so that whatever
// escapes finds them.

const label = 'finance';
const seed = 20_261_115;
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
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
);

test('10,000 hostile queries: Fess parses the label as a required clause, at both of its attempts', () => {
  let sent = 0;
  fc.assert(
    fc.property(hostile, (query) => {
      const params = guarded(query);
      if (params === null) return;
      sent += 1;
      assert.ok(requiresLabel(parseQuery(withoutHead(assembleQuery(params, false)))), 'at the first attempt');
      assert.ok(secondAttemptIsSafe(params), 'at the second attempt');
    }),
    { numRuns: 10_000, seed },
  );
  // The rest has no word in it and is refused. A guard that refuses everything would isolate as well.
  assert.ok(sent > 5000, `only ${sent} queries were sent at all`);
});

test('10,000 hostile queries: no document of another label comes back', () => {
  fc.assert(
    fc.property(hostile, (query) => {
      const params = guarded(query);
      if (params !== null) assert.deepEqual(foreignLabels(params), []);
    }),
    { numRuns: 10_000, seed: seed + 1 },
  );
});

test('the same queries leak without the guard, so the tests above can fail', () => {
  const leaks = fc
    .sample(hostile, { numRuns: 2000, seed })
    .filter(
      (q) => foreignLabels(new URLSearchParams({ q: q.toWellFormed(), 'fields.label': label, num: '100' })).length > 0,
    );
  assert.ok(leaks.length > 100, `only ${leaks.length} leak`);
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
        // The tripwire is for servers that are not as we know them; with this one the guard itself has to suffice.
        assert.notEqual(error.data['fault'], 'label_not_applied');
        return null;
      }
    };

    test('no query, sort or facet shows a document of another label', async () => {
      const request = fc.record(
        {
          query: hostile,
          sort: fc.oneof(fc.constantFrom('score.desc', 'created.asc'), spaced),
          lang: fc.oneof(fc.constant('en'), spaced),
          facets: fc.record({ field: fc.constantFrom(['label'], ['host']), query: fc.array(spaced, { maxLength: 2 }) }),
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
        }),
        { numRuns: 1500, seed },
      );
    });

    test('no document id and no label shows a document of another label', async () => {
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
        { numRuns: 600, seed },
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

/** A 400 is safe as well. */
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
