import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { wordQueryOf } from '../../src/toolsets/context/search/query-words.ts';
import { type Backend, onEachBackend } from '../support/backends.ts';
import { size } from '../support/sizes.ts';

/** Fixed, so that both databases get the same queries and failures are repeatable. */
const seed = 20_261_115;
const usual: Scale = { documents: 400, longOnes: 0, queries: size({ quick: 40, full: 300 }) };
const few: Scale = { documents: 60, longOnes: 1, queries: size({ quick: 15, full: 40 }) };

interface Scale {
  readonly documents: number;
  /** Texts with more distinct words than PostgreSQL's tsvector holds (1 MB). They are found by their first words. */
  readonly longOnes: number;
  /** Per mode. */
  readonly queries: number;
}

/** Words that stemming doesn't change; some are prefixes of others. */
const vocabulary = ['dak', 'dakum', 'dakrob', 'bolk', 'bolkam', 'murk', 'murkob', 'tivok', 'tivokam', 'zunk', 'vob'];
const word = fc.constantFrom(...vocabulary);
const text = fc.array(word, { minLength: 1, maxLength: 8 });
const words = fc.array(word, { minLength: 1, maxLength: 3 });

/** A boolean query as text, and as a predicate on a text's words. */
interface Asked {
  readonly query: string;
  matches(text: readonly string[]): boolean;
}

const sign = (choices: readonly string[]) => fc.constantFrom(...choices);
const leaf: fc.Arbitrary<Asked> = fc.oneof(
  word.map((each): Asked => ({ query: each, matches: (found) => found.includes(each) })),
  word.map((each): Asked => ({ query: `${each}*`, matches: (found) => found.some((one) => one.startsWith(each)) })),
  fc
    .array(word, { minLength: 2, maxLength: 2 })
    .map((phrase): Asked => ({ query: `"${phrase.join(' ')}"`, matches: (found) => isSideBySide(found, phrase) })),
);
const { asked } = fc.letrec<{ asked: Asked; kept: Asked }>((tie) => ({
  kept: fc.oneof({ depthSize: 'small' }, leaf, tie('asked')),
  asked: fc.oneof(
    { depthSize: 'small' },
    leaf,
    joined(tie('kept'), sign([' AND ', ' and ', ' & ', ' ']), (left, right) => left && right),
    joined(tie('kept'), sign([' OR ', ' or ', ' | ', '|']), (left, right) => left || right),
    joined(tie('kept'), sign([' NOT ', ' AND NOT ', ' not ', ' -', ' !']), (left, right) => left && !right),
  ),
}));

function joined(
  part: fc.Arbitrary<Asked>,
  operator: fc.Arbitrary<string>,
  combine: (left: boolean, right: boolean) => boolean,
): fc.Arbitrary<Asked> {
  return fc.tuple(part, operator, part).map(([left, between, right]) => ({
    query: `(${left.query})${between}(${right.query})`,
    matches: (found) => combine(left.matches(found), right.matches(found)),
  }));
}

function isSideBySide(found: readonly string[], phrase: readonly string[]): boolean {
  return found.some((_, from) => phrase.every((each, index) => found[from + index] === each));
}

/** Distinct words that no query contains. */
function manyWords(): string {
  return Array.from({ length: 9_000 }, (_, index) => `q${index.toString(36)}${'я'.repeat(58)}`).join(' ');
}

onEachBackend('modes of the word search', (backend) => {
  describe('in short texts', () => checkModes(backend, usual));
  // SQLite stores them like others.
  if (backend.name === 'postgres') describe('in texts, some with very many words', () => checkModes(backend, few));
});

function checkModes(backend: Backend, scale: Scale): void {
  let entries: EntryStore;
  const documents: { id: number; words: readonly string[] }[] = [];

  const textOf = (each: readonly string[], index: number): string =>
    index < scale.longOnes ? `${each.join(' ')} ${manyWords()}` : each.join(' ');

  before(async () => {
    ({ entries } = await backend.open());
    const sample = fc.sample(text, { seed, numRuns: scale.documents });
    const outcomes = await entries.store({
      entries: sample.map((each, index) => ({
        ...{ threadId: 'words', source: 'agent' as const, text: textOf(each, index), metadata: undefined },
        ...{ tags: [], images: [], summary: undefined },
      })),
    });
    // Repeating the last entry of a thread updates it: both have the same text.
    const kept = new Map(outcomes.map(({ id }, index) => [id, sample[index] ?? []]));
    for (const [id, each] of kept) documents.push({ id, words: each });
  });

  async function check(mode: Parameters<typeof wordQueryOf>[1], { query, matches }: Asked): Promise<number> {
    const request = { query: wordQueryOf(query, mode), filter: {}, limit: scale.documents, offset: 0, explain: false };
    const { hits, total } = await entries.searchWords(request);
    const expected = documents.filter((each) => matches(each.words)).map(({ id }) => id);
    const found = hits.map(({ id }) => id).sort((a, b) => a - b);
    assert.deepEqual(found, expected, `${mode} ${query}`);
    assert.equal(total, expected.length, `${mode} ${query}`);
    return expected.length;
  }

  async function checkAll(mode: Parameters<typeof wordQueryOf>[1], made: fc.Arbitrary<Asked>): Promise<void> {
    let found = 0;
    for (const each of fc.sample(made, { seed, numRuns: scale.queries })) found += await check(mode, each);
    assert.ok(found > scale.queries, 'the generated queries find too little to prove anything');
  }

  const each = (meaning: (found: readonly string[], wanted: readonly string[]) => boolean) =>
    words.map((wanted): Asked => ({ query: wanted.join(' '), matches: (found) => meaning(found, wanted) }));

  test('match finds entries with every word', () =>
    checkAll(
      'match',
      each((found, wanted) => wanted.every((one) => found.includes(one))),
    ));

  test('prefix finds entries with a word for every prefix', () =>
    checkAll(
      'prefix',
      each((found, wanted) => wanted.every((one) => found.some((other) => other.startsWith(one)))),
    ));

  test('phrase finds the words side by side', () => checkAll('phrase', each(isSideBySide)));

  test('boolean follows its operators in every notation', () => {
    const bounded = asked.filter(({ query }) => (query.match(/\*/g) ?? []).length <= 5 && query.length < 200);
    return checkAll('boolean', bounded);
  });
}
