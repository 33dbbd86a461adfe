import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Metadata, MetadataCondition, Scalar } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { onEachBackend } from '../support/backends.ts';
import { oracleMatches } from '../support/filter-oracle.ts';
import { size } from '../support/sizes.ts';

/** Fixed, so that both databases get the same queries and failures are repeatable. */
const seed = 20_261_115;
const documentsCount = size({ quick: 250, full: 1_000 });
/** Filters must mean the same with a full, partial or missing index. */
const indexes = [
  { filtersCount: size({ quick: 60, full: 500 }), fields: ['*'] },
  { filtersCount: size({ quick: 60, full: 500 }), fields: [] },
  {
    filtersCount: size({ quick: 150, full: 2_000 }),
    fields: ['status', 'n:array', 'a:object', 'b:array', 'b.n', 'b.a:array', 'missing:object'],
  },
];

const words = ['alpha', 'Alpha', 'ALPHA beta', 'a%b', 'a_b', 'axb', 'ß', 'ΣΑΣ', 'σας', 'İ', '5', 'true', 'null', ''];
const odd = ['"', "'", '\\', '😀', '\u{1F600}x', '~', 'é', 'É', "a' OR 1=1--", 'z'.repeat(150), 'Z'.repeat(151), '[1]'];
/** Neighbours that are the same double, of both signs, at a change of length and above 64 bits. */
const long = [
  ...[
    1_234_567_890_123_456_788n,
    1_234_567_890_123_456_789n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 53n + 2n,
    9_999_999_999_999_999_999n,
    10_000_000_000_000_000_000n,
  ],
  ...[
    -(2n ** 53n) - 1n,
    -(2n ** 63n),
    -(2n ** 63n) - 1n,
    -(10n ** 19n) + 1n,
    -(10n ** 19n),
    10n ** 30n,
    10n ** 30n + 1n,
  ],
];
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.constantFrom(...words, ...odd),
  fc.constantFrom(0, 1, -1, 5, 5.5, 2 ** 53, 1e300, -0.25),
  fc.constantFrom(...long),
  fc.boolean(),
);
const keys = ['status', 'n', 'a', 'b', 'a.b', 'we"ird', "o'k", '$', '__proto__', 'k'.repeat(300)];
const key = fc.constantFrom(...keys);
const { metadata } = fc.letrec<{ value: unknown; metadata: Metadata }>((tie) => ({
  value: fc.oneof(
    { weight: 6, arbitrary: scalar },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.constant(null), fc.constant({ a: 1 })), { maxLength: 3 }) },
    { weight: 2, arbitrary: tie('metadata') },
  ),
  metadata: fc
    .array(fc.tuple(key, tie('value')), { minLength: 0, maxLength: 4 })
    .map((pairs) => Object.fromEntries(pairs)),
}));
const path = fc.array(key, { minLength: 1, maxLength: 2 });
const text = fc.constantFrom(...words, ...odd, 'a', 'S', 'zzz');
const condition: fc.Arbitrary<MetadataCondition> = fc.oneof(
  fc.record({
    path,
    operator: fc.constantFrom('eq' as const, 'ne' as const, 'array_contains' as const),
    value: scalar,
    caseSensitive: fc.boolean(),
  }),
  fc.record({
    path,
    operator: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
    value: fc.oneof(text, fc.constantFrom(0, 1, 5, 5.5, -3, 1e300), fc.constantFrom(...long)),
    caseSensitive: fc.boolean(),
  }),
  fc.record({
    path,
    operator: fc.constantFrom('in' as const, 'not_in' as const),
    value: fc.array(scalar, { minLength: 1, maxLength: 5 }),
    caseSensitive: fc.boolean(),
  }),
  fc.record({
    path,
    operator: fc.constantFrom('contains' as const, 'starts_with' as const, 'ends_with' as const),
    value: text,
    caseSensitive: fc.boolean(),
  }),
  fc.record({
    path,
    operator: fc.constantFrom('exists' as const, 'not_exists' as const, 'is_null' as const, 'is_not_null' as const),
  }),
);

onEachBackend('metadata filters', (backend) => {
  let entries: EntryStore;
  const documents: { id: number; metadata: Metadata }[] = [];

  before(async () => {
    ({ entries } = await backend.open());
    const sample = fc.sample(metadata, { seed, numRuns: documentsCount });
    const outcomes = await entries.store({
      entries: sample.map((each, index) => ({
        threadId: 'filters',
        source: 'agent' as const,
        text: `document ${index}`,
        metadata: each,
        tags: [],
        images: [],
        summary: undefined,
      })),
    });
    outcomes.forEach(({ id }, index) => {
      documents.push({ id, metadata: sample[index] ?? {} });
    });
  });

  for (const { filtersCount, fields } of indexes) {
    const named = fields.join(', ') || 'no field';
    test(`${filtersCount} generated filters match a plain evaluation of the operators, with ${named} indexed`, async () => {
      await entries.indexFields({ fields, mode: 'auto' });
      const filters = fc.sample(fc.array(condition, { minLength: 1, maxLength: 2 }), { seed, numRuns: filtersCount });
      let found = 0;
      for (const filter of filters) {
        const expected = documents
          .filter((document) => filter.every((each) => oracleMatches(document.metadata, each)))
          .map(({ id }) => id);
        const actual = await entries.matching({ metadata: filter });
        assert.deepEqual(actual, expected, JSON.stringify(filter));
        const request = { filter: { metadata: filter }, limit: 20, offset: 5, images: false, explain: false };
        const page = await entries.list(request);
        assert.deepEqual(
          page.entries.map(({ id }) => id),
          expected.toReversed().slice(5, 25),
          JSON.stringify(filter),
        );
        found += expected.length;
      }
      assert.ok(found > filtersCount, 'the generated filters find too little to prove anything');
    });
  }

  test('stored keys come back in the same order', async () => {
    const ids = documents.slice(0, 50).map(({ id }) => id);
    const stored = await entries.get({ ids, images: false });
    for (const entry of stored) {
      const original = documents.find(({ id }) => id === entry.id)?.metadata ?? {};
      assert.equal(JSON.stringify(entry.metadata ?? {}), JSON.stringify(original));
    }
  });
});
