import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Operation, Statements } from '../../src/storage/dialect.ts';
import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import { searchPassages } from '../../src/storage/passages/passage-store.ts';
import { type Connections, createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { createPostgresDialect } from '../../src/storage/postgres/dialect.ts';
import { createPostgresStorage, withQuestionMarks } from '../../src/storage/postgres/postgres-storage.ts';
import { createTokenizer } from '../../src/storage/postgres/words/tokenizer.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { findWords } from '../../src/storage/words/find-words.ts';
import { passageWords } from '../../src/storage/words/word-indexes.ts';
import type { Page } from '../../src/words/ranking/word-index.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { type PassageWriter, passageWriter, type TestDocument, type TestPassage } from '../support/passages.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';
import { size } from '../support/sizes.ts';

/** Upper bound for counting matches. */
const totalMax = 500;

/** Passages. Most of them match some queries and filters, which is more than is counted. */
const count = size({ quick: 600, full: 2500 });
/** Their labels repeat after this many, and a document's passages have the same labels. */
const documents = 100;

/** Labels are stored as lexemes among the words. The index must find the same as testing each match. */
describe('label filters on word searches on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  const tokenizer = createTokenizer();
  const dialect = createPostgresDialect(tokenizer, undefined);
  let server: PostgresServer;
  let database: TestDatabase;
  let storage: Storage;
  let passages: PassageWriter;
  let connections: Connections;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    storage = await createPostgresStorage({ url: database.url });
    passages = passageWriter(storage);
    connections = createConnections({ url: database.url });
    await passages.replace(Array.from({ length: documents }, (_, number) => documentOf(number)));
  });
  after(async () => {
    await tokenizer.close();
    await connections.close();
    await storage.close();
    await database.drop();
    await server.stop();
  });

  const queries = [
    'lantern OR copper OR brass OR ember OR wick',
    'ember OR wick',
    'lantern OR brass',
    'copper ember',
    'wick',
    'lantern -ember',
    '"copper ember"',
    'wick OR "copper ember"',
    'enber OR wick',
    'q0xjq OR wick',
  ];
  const filters: Record<string, string[][]> = {
    'most passages': [['most']],
    'half of them': [['half0']],
    'a tenth': [['tenth3']],
    none: [['none']],
    'a label with signs': [["it's \\ & : *"]],
    'one of two labels': [['tenth1', 'tenth2']],
    'labels of two groups': [['half1'], ['tenth3', 'tenth4']],
    'two that exclude each other': [['half0'], ['half1']],
  };
  for (const [name, labels] of Object.entries(filters)) {
    test(`${name}: returns the same hits as testing each match`, async () => {
      for (const text of queries) {
        for (const page of [
          { limit: 20, offset: 0 },
          { limit: 100, offset: 0, counts: false },
          { limit: 100, offset: 150 },
        ]) {
          const found = await find(text, { labels }, page);
          assert.deepEqual(found, await find(text, { labels }, page, false), `${text} ${page.offset}`);
        }
      }
    });
  }

  test('a label is not searchable as a word', async () => {
    for (const text of ['most', 'half0', 'mo*']) {
      assert.equal((await find(text, {}, { limit: 10, offset: 0 })).total, 0, text);
    }
  });

  test('passages are found by their new labels as soon as they are relabelled, and no longer by the old ones', async () => {
    const totals = async () => {
      const total = async (label: string) =>
        (await find('lantern', { labels: [[label]] }, { limit: 1, offset: 0 })).total;
      return [await total('tenth7'), await total('fresh'), await total('fiftieth7')];
    };
    // Documents were written in order, starting at id 1.
    const ids = Array.from({ length: documents / 10 }, (_, at) => 10 * at + 8);
    const retag = (tags: string[]) =>
      storage.documents.changeMany({
        selection: { ids },
        action: { kind: 'set_tags', tags },
        ...{ percentMax: 100, tagsMax: 10 },
      });
    assert.deepEqual(await totals(), [count / 10, 0, count / 50]);
    await retag(['fresh']);
    assert.deepEqual(await totals(), [0, count / 10, 0]);
    assert.deepEqual(await storage.check(), []);
    await retag([]);
    assert.deepEqual(await totals(), [0, 0, 0]);
    assert.deepEqual(await storage.check(), []);
  });

  test('finds passages as they were before a concurrent rewrite', async () => {
    const written = [documentOf(0)];
    const interrupted: typeof searchPassages = (on, request) => {
      const query: Statements['query'] = async (sql, ...more) => {
        if (sql.includes('FROM carrel.kb_passages')) await passages.replace(written);
        return on.query(sql, ...more);
      };
      return searchPassages({ ...on, query }, request);
    };
    const { hits, total } = await read(interrupted, { query: plainQuery('wick'), limit: 20, offset: 0 });
    assert.deepEqual([hits.length, total], [20, Math.ceil(count / 31)]);
  });

  function find(text: string, { labels = [] }: PassageFilter, page: Page, isIndexed = true) {
    const filter = dialect.words.labelFilter(
      passageWords,
      labels.map((group) => group.map((label) => `tag:${label}`)),
    );
    const used = filter && (isIndexed ? filter : { ...filter, labels: undefined });
    return read((on) => findWords(on, { ...passageWords, totalMax }, plainQuery(text), used, page), undefined);
  }

  function read<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Promise<Answer> {
    return connections.read((connection) =>
      operation({ dialect, now: new Date().toISOString(), ...withQuestionMarks(connection) }, request),
    );
  }
});

function documentOf(number: number): TestDocument {
  const passages = Array.from({ length: count / documents }, (_, at) => passageOf(number + at * documents));
  return { parent: `d${number}`, passages };
}

function passageOf(number: number): TestPassage {
  const rare = `${number % 7 === 0 ? 'ember' : ''} ${number % 31 === 0 ? 'wick' : ''}`;
  const many = number === 100 ? Array.from({ length: 400 }, (_, at) => `q${at}xjq`).join(' ') : '';
  return {
    ...{ id: `p${number}`, title: '', headings: [] },
    body: `A ${'lantern '.repeat(1 + (number % 3))}of ${number % 2 === 0 ? 'copper' : 'brass'}, ${rare} ${many} ${'long '.repeat(number % 50)}`,
    labels: [
      ...[`half${Math.floor(number / 2) % 2}`, `tenth${number % 10}`, `fiftieth${number % 50}`],
      ...(number % 20 === 0 ? ["it's \\ & : *"] : ['most']),
    ],
  };
}
