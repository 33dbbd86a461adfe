import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EntryFilter, MetadataCondition, NewEntry } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { parseBooleanQuery } from '../../src/words/boolean-query.ts';
import { onEachBackend } from '../support/backends.ts';

/** Enough for conditions that are tested on each match, and for more matches than are ranked. */
const count = 1200;

onEachBackend('002: word searches with a filter', (backend) => {
  let entries: EntryStore;
  let ids: readonly number[];
  before(async () => {
    ({ entries } = await backend.open());
    await entries.indexFields({ fields: ['status', 'priority', 'team:array'], mode: 'auto' });
    const stored = await entries.store({ entries: Array.from({ length: count }, (_, number) => entryOf(number)) });
    ids = stored.map(({ id }) => id);
  });

  const isOpen = (number: number) => number % 4 === 0;
  const status = conditionOf('status', 'eq', 'open');
  const filters: Record<string, [EntryFilter, (number: number) => boolean]> = {
    'one field': [{ metadata: [status] }, isOpen],
    'a number': [{ metadata: [conditionOf('priority', 'gt', 1)] }, (number) => number % 5 > 1],
    'a member of an array': [{ metadata: [conditionOf('team', 'array_contains', 'red')] }, () => true],
    'two fields': [
      { metadata: [status, conditionOf('priority', 'lte', 3)] },
      (number) => isOpen(number) && number % 5 <= 3,
    ],
    'one of two tags': [{ tags: ['even', 'all'] }, () => true],
    'a tag and a field': [{ tags: ['even'], metadata: [status] }, isOpen],
    'a missing field': [{ metadata: [{ path: ['absent'], operator: 'not_exists' }, status] }, isOpen],
    'a field and a column': [{ source: 'user', metadata: [status] }, (number) => isOpen(number) && number % 3 === 0],
    'a thread': [{ threadId: 't3' }, (number) => number % 10 === 3],
    'a field that few have': [{ metadata: [conditionOf('status', 'eq', 'rare')] }, (number) => number % 100 === 1],
    'a field that is not indexed': [{ metadata: [conditionOf('owner', 'eq', 'Ann')] }, (number) => number % 2 === 0],
  };
  const queries: Record<string, (number: number) => boolean> = {
    lantern: () => true,
    'lantern AND copper': (number) => number % 2 === 0,
    'lanterm AND copper': (number) => number % 2 === 0,
    'ember OR brass': (number) => number % 7 === 0 || number % 2 === 1,
    'lantern -"of copper"': (number) => number % 2 === 1,
  };
  for (const [name, [filter, passes]] of Object.entries(filters)) {
    test(`${name}: finds all entries that match and pass, each once`, async () => {
      for (const [text, matches] of Object.entries(queries)) {
        const expected = ids.filter((_, number) => matches(number) && passes(number));
        const request = { query: parseBooleanQuery(text).query, filter, explain: false };
        const { hits, total } = await entries.searchWords({ ...request, limit: count, offset: 0 });
        const found = hits.map(({ id }) => id);
        assert.deepEqual([found.toSorted((a, b) => a - b), total], [expected, expected.length], text);
        const page = await entries.searchWords({ ...request, limit: 20, offset: 190 });
        assert.deepEqual(
          page.hits.map(({ id }) => id),
          found.slice(190, 210),
          text,
        );
      }
    });
  }
});

function conditionOf(field: string, operator: 'eq' | 'gt' | 'lte' | 'array_contains', value: string | number) {
  return { path: [field], operator, value, caseSensitive: false } as MetadataCondition;
}

function entryOf(number: number): NewEntry {
  const rare = number % 7 === 0 ? 'ember' : '';
  return {
    threadId: `t${number % 10}`,
    source: number % 3 === 0 ? 'user' : 'agent',
    text: `A ${'lantern '.repeat(1 + (number % 3))}of ${number % 2 === 0 ? 'copper' : 'brass'}, ${rare} number ${number}`,
    metadata: {
      status: number % 4 === 0 ? 'open' : number % 100 === 1 ? 'rare' : 'closed',
      priority: number % 5,
      team: ['red', number % 2 === 0 ? 'Red' : 'blue'],
      owner: number % 2 === 0 ? 'Ann' : 'Bo',
    },
    tags: ['all', ...(number % 2 === 0 ? ['even'] : [])],
    images: [],
    summary: undefined,
  };
}
