import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { NewEntry } from '../../src/storage/contracts/entries.ts';
import type { EntryFilter, MetadataCondition } from '../../src/storage/contracts/entry-filter.ts';
import type { PassagePage, PassageSearch } from '../../src/storage/contracts/passages.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import type { Operation, Statements } from '../../src/storage/dialect.ts';
import { type Connections, createConnections } from '../../src/storage/postgres/connections.ts';
import { createPostgresDialect } from '../../src/storage/postgres/dialect.ts';
import { createFreshStatistics } from '../../src/storage/postgres/fresh-statistics.ts';
import { createPostgresStorage, withQuestionMarks } from '../../src/storage/postgres/postgres-storage.ts';
import { createTextCutter } from '../../src/storage/postgres/text-cutter.ts';
import { createWordShares, type WordShares } from '../../src/storage/postgres/word-shares.ts';
import { searchEntryWords } from '../../src/storage/stores/entries/read-entries.ts';
import { searchPassages } from '../../src/storage/stores/passages/read-passages.ts';
import { findWords } from '../../src/storage/stores/words/find-words.ts';
import { entryWords } from '../../src/storage/stores/words/word-indexes.ts';
import { parseQuery } from '../../src/words/query-language.ts';
import type { FoundPage, Page } from '../../src/words/ranking/word-index.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';

const documents = 2500;
const index = 'kb_passage';
const entryIndex = 'context_entry';

/** Issue 18: words on PostgreSQL. What is known of common words without counting them must not change what is found. */
describe('shares of words on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let storage: Storage;
  let connections: Connections;
  let shares: WordShares;
  let time = 0;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    storage = await createPostgresStorage({ url: database.url });
    connections = createConnections({ url: database.url });
    shares = createWordShares(connections, { documentsMin: documents, clock: () => time });
    await storage.passages.replace(
      Array.from({ length: documents }, (_, number) => ({ parent: `d${number}`, passages: [passageOf(number)] })),
    );
  });
  before(async () => {
    await storage.entries.indexFields({ fields: ['status', 'priority', 'team:array'], mode: 'auto' });
    for (let first = 0; first < documents; first += 500) {
      await storage.entries.store({ entries: Array.from({ length: 500 }, (_, place) => entryOf(first + place)) });
    }
  });
  after(async () => {
    await connections.close();
    await storage.close();
    await database.drop();
    await server.stop();
  });

  test('where there are few documents, or as many as a short while before, nobody looks', async () => {
    await shares.refresh(index, documents - 1);
    assert.equal(shares.of(index).size, 0);
    await shares.refresh(index, documents);
    const known = shares.of(index);
    await shares.refresh(index, documents + 1);
    assert.equal(shares.of(index), known);
    time += 600_000;
    await shares.refresh(index, documents);
    const again = shares.of(index);
    assert.notEqual(again, known, 'after ten minutes');
    await shares.refresh(index, 2 * documents);
    assert.notEqual(shares.of(index), again);
    await shares.refresh(index, documents - 1);
    assert.equal(shares.of(index).size, 0);
  });

  test('words of many documents are known with their share, rare ones are not', async () => {
    await shares.refresh(index, documents);
    const known = shares.of(index);
    // But for the one whose words are in several rows.
    assert.equal(known.get('river'), 1 - 1 / documents);
    assert.equal(known.get('bridg'), 0.5 - 1 / documents);
    assert.equal(known.get('harbour'), undefined);
  });

  const queries = ['river', 'bridge river', 'bridge harbour', 'bridge OR harbour', 'river -harbour', '"river bridge"'];
  for (const text of [...queries, 'river OR harbour', 'brid* river', 'bridze', 'bridze river']) {
    for (const labels of [undefined, [['half']], [['few']]]) {
      test(`${text} finds the same with them, ${labels?.flat().join() ?? 'everything'}`, async (context) => {
        await shares.refresh(index, documents);
        const search = searchWith(context, shares);
        const request = requestOf(text, labels);
        const exact = await storage.passages.search(request);
        assert.ok(exact.total > 0);
        const found = await search(request);
        assert.deepEqual(plainly(found), plainly(exact));
        // Again, when the counts are known.
        assert.deepEqual(await search(request), found);
        // Without the total, no more is looked at than the page needs.
        assert.deepEqual((await search({ ...request, counts: false })).hits, found.hits);
        const long = { ...request, limit: 300 };
        assert.deepEqual((await search({ ...long, counts: false })).hits, (await search(long)).hits);
      });
    }
  }

  test('a share that is far too high makes no total', async (context) => {
    const wrong = { of: () => new Map([['river', 50]]), refresh: async () => {} };
    const { total } = await searchWith(context, wrong)(requestOf('river OR harbour'));
    assert.equal(total, documents);
  });

  test('a search scores the same, whatever was listed for another one since', async (context) => {
    const wrong = { of: () => new Map([['river', 0.05]]), refresh: async () => {} };
    const search = searchWith(context, wrong);
    const request = requestOf('river OR "bridge of"');
    const before = await search(request);
    await search(requestOf('river OR harbour'));
    assert.deepEqual(await search(request), before);
  });

  const status = { metadata: [conditionOf('status', 'eq', 'open')] };
  const filters: Record<string, EntryFilter> = {
    'one field': status,
    'a number': { metadata: [conditionOf('priority', 'gt', 1)] },
    'one of several members': { metadata: [conditionOf('team', 'array_contains', 'red')] },
    'two fields': { metadata: [conditionOf('status', 'eq', 'open'), conditionOf('priority', 'lte', 3)] },
    'one of two tags': { tags: ['even', 'all'] },
    'a tag and a field': { tags: ['even', 'all'], ...status },
    'a missing field': { metadata: [{ path: ['absent'], operator: 'not_exists' }, ...status.metadata] },
    'a field and a column': { source: 'user', ...status },
    'a field that few have': { metadata: [conditionOf('status', 'eq', 'rare')] },
    'a field that is not indexed': { metadata: [conditionOf('owner', 'eq', 'Ann')] },
  };
  for (const [name, filter] of Object.entries(filters)) {
    test(`002, filters: entries by words and ${name} are the same with them, scores and all`, async (context) => {
      await shares.refresh(entryIndex, documents);
      const search = readWith(context, shares, searchEntryWords);
      for (const [text, offset] of [
        ['lantern', 0],
        ['lantern copper', 0],
        ['lanterm copper', 0],
        ['lantern', 190],
      ] as const) {
        const request = { query: parseQuery(text), filter, explain: false, limit: 50, offset };
        const exact = await storage.entries.searchWords(request);
        assert.ok(exact.total > 0);
        assert.deepEqual(await search(request), exact, text);
      }
    });
  }

  test('002, filters: entries that have many of the tags are all found', async (context) => {
    const tags = Array.from({ length: 20 }, (_, number) => `one of ${number}`);
    await connections.write((statements) =>
      statements.query(
        'INSERT INTO carrel.context_tags (entry, tag) SELECT o.key, t FROM carrel.context_entries o, unnest($1::text[]) t',
        [tags],
      ),
    );
    await shares.refresh(entryIndex, documents);
    const search = readWith(context, shares, searchEntryWords);
    const request = { query: parseQuery('lantern'), filter: { tags }, explain: false, limit: 50, offset: 190 };
    const { hits, total } = await search(request);
    assert.deepEqual([hits.length, total], [50, documents]);
  });

  test('issue 13, 10: a search by a word that is known, behind a filter that is, is three statements', async (context) => {
    await shares.refresh(entryIndex, documents);
    const asked: string[] = [];
    const search = readWith(context, shares, searchEntryWords, asked);
    const request = { query: parseQuery('lantern'), filter: status, limit: 50, offset: 0, explain: false };
    await search({ ...request, query: parseQuery('copper') });
    asked.length = 0;
    const { total } = await search(request);
    assert.equal(total, documents / 4);
    assert.equal(asked.length, 3, asked.join('\n'));
    assert.match(asked[0] ?? '', /context_settings/);
    assert.match(asked[1] ?? '', /context_entry_statistics/);
    assert.match(asked[2] ?? '', /context_entry_terms.+context_fields.+context_entry_words/s);
  });

  test('issue 13, 10: passages that are written anew during a search are found as they were', async (context) => {
    const interrupted: typeof searchPassages = (on, request) => {
      const query: Statements['query'] = async (sql, ...more) => {
        if (sql.includes('FROM carrel.kb_passages')) await storage.passages.replace(written);
        return on.query(sql, ...more);
      };
      return searchPassages({ ...on, query }, request);
    };
    const written = [{ parent: 'd0', passages: [passageOf(0)] }];
    const search = readWith(context, shares, interrupted);
    const { hits, total } = await search(requestOf('harbour bride'));
    assert.deepEqual([hits.length, total], [20, documents / 50]);
  });

  /** With as many matches as are counted here, and the words as the statements got them. */
  const rarestMax = 1000;
  const findEntries = (listsRarest: boolean, values: unknown[] = []): Operation<EntryWords, FoundPage> => {
    return ({ dialect, ...on }, { text, ...page }) => {
      const listing = dialect.words.listing && { ...dialect.words.listing };
      if (listing && !listsRarest) listing.holding = async () => undefined;
      const query: Statements['query'] = (sql, bound, ...more) => {
        values.push(bound);
        return on.query(sql, bound, ...more);
      };
      const index = { ...entryWords, totalMax: rarestMax };
      const changed = { ...dialect, words: { ...dialect.words, listing } };
      return findWords({ ...on, query, dialect: changed }, index, parseQuery(text), undefined, page);
    };
  };
  for (const counts of [true, false]) {
    test(`issue 18: where rare words decide, the first are the same, ${counts ? 'counted' : 'not counted'}`, async (context) => {
      await shares.refresh(entryIndex, documents);
      const values: unknown[] = [];
      const request = { text: 'lantern OR copper OR brass OR ember OR wick', limit: 200, offset: 0, counts };
      const found = await readWith(context, shares, findEntries(true, values))(request);
      assert.match(JSON.stringify(values), /wick.+ember.+ & .+copper/, 'only those with a rare word are listed');
      const all = await readWith(context, shares, findEntries(false))(request);
      assert.equal(found.found.length, 200);
      assert.deepEqual(found.found, all.found);
      assert.equal(found.total, counts ? rarestMax : 200);
      const next = { ...request, offset: 150, limit: 100 };
      const behind = await readWith(context, shares, findEntries(true))(next);
      assert.deepEqual(
        behind,
        await readWith(context, shares, findEntries(false))(next),
        'behind those that are scored',
      );
    });
  }

  test('issue 18: where fewer have a rare word than was thought, the others are looked at too', async (context) => {
    const known = new Map([
      ['wick', 0.3],
      ...['ember', 'copper', 'brass', 'lantern'].map((word) => [word, 0.95] as const),
    ]);
    const wrong = { of: () => known, refresh: async () => {} };
    const values: unknown[] = [];
    const request = { text: 'wick OR ember OR copper OR brass OR lantern', limit: 100, offset: 0, counts: false };
    const found = await readWith(context, wrong, findEntries(true, values))(request);
    assert.match(JSON.stringify(values), /wick[^|]+ & .+ember/);
    assert.deepEqual(found, await readWith(context, wrong, findEntries(false))(request));
  });

  test('issue 18: that there are many matches is known until the next change, and no longer', async (context) => {
    await shares.refresh(entryIndex, documents);
    const asked: string[] = [];
    const find = readWith(context, shares, findEntries(true), asked);
    const request = { text: 'lantern OR copper OR brass OR ember OR wick', limit: 10, offset: 0 };
    const counting = () => asked.splice(0).filter((sql) => sql.includes('AS found')).length;
    await find(request);
    assert.equal(counting(), 1);
    assert.equal((await find(request)).total, rarestMax);
    assert.equal(counting(), 0);
    await storage.entries.store({ entries: [entryOf(0)] });
    assert.equal((await find(request)).total, rarestMax);
    assert.equal(counting(), 1);
    const left = rarestMax / 2;
    await connections.write((on) => on.query('DELETE FROM carrel.context_entry_terms WHERE key > $1', [left]));
    await connections.write((on) => on.query('DELETE FROM carrel.context_entry_words WHERE key > $1', [left]));
    assert.equal((await find(request)).total, left);
  });

  function searchWith(context: TestContext, known: WordShares) {
    return readWith(context, known, searchPassages);
  }

  /** With a dialect of its own, with no counts yet. Notes the statements. */
  function readWith<Request, Answer>(
    context: TestContext,
    known: WordShares,
    operation: Operation<Request, Answer>,
    asked: string[] = [],
  ) {
    const cutter = createTextCutter();
    context.after(() => cutter.close());
    const statistics = createFreshStatistics(connections, known);
    const dialect = createPostgresDialect({ indexes: undefined, statistics, shares: known, cutter });
    return (request: Request) =>
      connections.read((connection) => {
        const { query } = withQuestionMarks(connection);
        const noted: Statements['query'] = (sql, ...more) => {
          asked.push(sql);
          return query(sql, ...more);
        };
        return operation({ dialect, now: new Date().toISOString(), query: noted }, request);
      });
  }

  test('what cannot be looked at is counted', async () => {
    await shares.refresh('nothing_of_ours', documents);
    assert.equal(shares.of('nothing_of_ours').size, 0);
  });
});

function requestOf(text: string, labels?: string[][]): PassageSearch {
  return { query: parseQuery(text), ...(labels ? { filter: { labels } } : {}), limit: 20, offset: 0 };
}

/** Without scores, for which it counts how common words are. */
function plainly({ hits, total, mended }: PassagePage) {
  return { ids: hits.map(({ id }) => id), total, mended };
}

function manyWords(): string[] {
  return Array.from({ length: 120_000 }, (_, index) => `q${(index * 7_919 + 60_466_176).toString(36)}xjq`);
}

function conditionOf(field: string, operator: 'eq' | 'gt' | 'lte' | 'array_contains', value: string | number) {
  return { path: [field], operator, value, caseSensitive: false } as MetadataCondition;
}

interface EntryWords extends Page {
  readonly text: string;
}

function entryOf(number: number): NewEntry {
  const rare = `${number % 7 === 0 ? 'ember' : ''} ${number % 31 === 0 ? 'wick' : ''}`;
  return {
    threadId: `t${number % 10}`,
    source: number % 3 === 0 ? 'user' : 'agent',
    text: `A ${'lantern '.repeat(1 + (number % 3))}of ${number % 2 === 0 ? 'copper' : 'brass'}, ${rare} ${'long '.repeat(number % 200)}`,
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

/** One of them has more words than fit into one row. */
function passageOf(number: number) {
  const body = [
    'A river',
    number % 2 === 0 ? 'bridge' : 'ferry',
    'of stone',
    number % 50 === 0 ? 'for a bride' : '',
    number % 200 === 0 ? 'in the harbour' : '',
    ...(number === 150 ? manyWords() : []),
  ];
  return {
    id: `p${number}`,
    position: 0,
    title: '',
    headings: [],
    body: body.join(' '),
    labels: [number % 4 < 2 ? 'half' : 'other', ...(number % 50 === 0 ? ['few'] : [])],
  };
}
