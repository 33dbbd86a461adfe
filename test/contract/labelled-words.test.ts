import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { backUp, restore } from '../../src/storage/backup/backup.ts';
import type { Passage, PassageFilter } from '../../src/storage/contracts/passages.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import type { Statements } from '../../src/storage/dialect.ts';
import { type Connections, createConnections } from '../../src/storage/postgres/connections.ts';
import { createPostgresDialect } from '../../src/storage/postgres/dialect.ts';
import { createFreshStatistics } from '../../src/storage/postgres/fresh-statistics.ts';
import { labelRest, labelWords } from '../../src/storage/postgres/label-words.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { migrations } from '../../src/storage/postgres/migrations.ts';
import { createPostgresStorage, withQuestionMarks } from '../../src/storage/postgres/postgres-storage.ts';
import { createTextCutter } from '../../src/storage/postgres/text-cutter.ts';
import { createWordShares } from '../../src/storage/postgres/word-shares.ts';
import { findWords } from '../../src/storage/stores/words/find-words.ts';
import { passageWords } from '../../src/storage/stores/words/word-indexes.ts';
import { parseQuery } from '../../src/words/query-language.ts';
import type { Page } from '../../src/words/ranking/word-index.ts';
import { temporaryFolder } from '../support/backends.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';

const documents = 2500;

/** As far as matches are counted here. */
const totalMax = 1000;

/** Issue 18: behind labels, words are found by the index that has both, and what is found is what it was. */
describe('words behind labels on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let storage: Storage;
  let connections: Connections;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    storage = await createPostgresStorage({ url: database.url });
    connections = createConnections({ url: database.url });
    await storage.passages.replace(
      Array.from({ length: documents }, (_, number) => ({ parent: `d${number}`, passages: [passageOf(number)] })),
    );
    await connections.alone((statements) => statements.query('ANALYZE carrel.kb_passages'));
  });
  after(async () => {
    await connections.close();
    await storage.close();
    await database.drop();
    await server.stop();
  });

  const five = 'lantern OR copper OR brass OR ember OR wick';
  const queries = [
    five,
    'ember OR wick',
    'lantern OR brass',
    'copper ember',
    'wick',
    'lantern -ember',
    '"copper ember"',
  ];
  const filters: Record<string, string[][]> = {
    'most passages': [['most']],
    'half of them': [['half0']],
    'a tenth': [['tenth3']],
    'a fiftieth': [['fiftieth7']],
    none: [['none']],
    'one of two labels': [['tenth1', 'tenth2']],
    'labels of two groups': [['half1'], ['tenth3', 'tenth4']],
    'two that exclude each other': [['half0'], ['half1']],
  };
  for (const [name, labels] of Object.entries(filters)) {
    test(`${name}: the same as by testing each match`, async (context) => {
      const find = findWith(context);
      for (const text of [...queries, 'enber OR wick', 'q0xjq OR wick']) {
        for (const page of [
          { limit: 20, offset: 0 },
          { limit: 100, offset: 0, counts: false },
          { limit: 100, offset: 150 },
        ]) {
          const found = await find(text, { labels }, page);
          const tested = await find(text, { labels }, page, { isIndexed: false });
          assert.deepEqual(found.found, tested.found, `${text} ${page.offset}`);
          if (page.counts !== false) assert.deepEqual(found, tested, text);
        }
      }
    });
  }

  for (const counts of [true, false]) {
    test(`where rare words decide, only these are listed, and of what passes, ${counts ? 'counted' : 'not counted'}`, async (context) => {
      const values: unknown[] = [];
      const find = findWith(context, values);
      const page = { limit: 200, offset: 0, counts };
      const found = await find(five, { labels: [['most']] }, page);
      assert.match(JSON.stringify(values), /wick.+ember.+ & .+copper.+most/);
      assert.equal(found.total, counts ? totalMax : 200);
      assert.deepEqual(found, await find(five, { labels: [['most']] }, page, { isIndexed: false }));
    });
  }

  test('that many match is known of one filter, until labels change', async (context) => {
    const asked: string[] = [];
    const find = findWith(context, [], asked);
    const counting = () => asked.splice(0).filter((sql) => sql.includes('AS found')).length;
    const total = async (...labels: string[]) =>
      (await find(five, { labels: [labels] }, { limit: 10, offset: 0 })).total;
    assert.deepEqual([await total('most'), counting()], [totalMax, 1]);
    assert.deepEqual([await total('most'), counting()], [totalMax, 0]);
    assert.deepEqual([await total('most', 'none'), counting()], [totalMax, 1]);
    // As a program of an earlier version does it.
    const relabel = (from: string, to: string) =>
      connections.write((statements) =>
        statements.query(
          'UPDATE carrel.kb_passages SET labels = array_replace(labels, $1, $2) WHERE labels && ARRAY[$1] AND key % 4 > 0',
          [from, to],
        ),
      );
    await relabel('most', 'other');
    const exact = { limit: documents, offset: 0 };
    const left = await find('lantern', { labels: [['most']] }, exact, { isIndexed: false });
    assert.ok(left.total > 0 && left.total < totalMax);
    assert.equal(await total('most'), left.total);
    assert.equal(await total('most', 'other'), totalMax);
    assert.deepEqual(await storage.check(), []);
    await relabel('other', 'most');
    assert.equal(await total('most'), totalMax);
  });

  test('labels of what an earlier version has stored are filled in meanwhile, and of what it stores from then on', async (context) => {
    const other = await createTestDatabase(server);
    const earlier = createConnections({ url: other.url });
    await migrate(earlier, migrations.slice(0, 6));
    const indexes = () => wordIndexes(earlier);
    await insert(earlier, [1], 'lake');
    await insert(earlier, [2], 'river');
    await migrate(earlier);
    const all = { limit: 10, offset: 0 };
    const search = async () => (await findWith(context, [], [], earlier)('heron', { labels: [['lake']] }, all)).found;
    const writing = holdPassage(earlier, 2);
    await writing.isHeld;
    const labelling = labelWords(earlier);
    await insert(earlier, [3], 'lake');
    assert.deepEqual([(await search()).map(({ key }) => key), await indexes()], [[1, 3], ['kb_passage_words_index']]);
    await writing.relabel('lake');
    await labelling;
    assert.deepEqual(
      [(await search()).map(({ key }) => key), await indexes()],
      [[1, 2, 3], ['kb_passage_words_by_label']],
    );
    assert.deepEqual(await earlier.read((on) => on.query(unlabelled)), []);
    await earlier.close();
    await other.drop();
  });

  test('none is left out where others come in between, and the former index goes though somebody was interrupted', async () => {
    const other = await createTestDatabase(server);
    const earlier = createConnections({ url: other.url });
    await migrate(earlier, migrations.slice(0, 6));
    await insert(
      earlier,
      Array.from({ length: 2001 }, (_, place) => 2 * place + 2),
      'lake',
    );
    await migrate(earlier);
    let added: Promise<void> | undefined;
    await labelWords({
      ...earlier,
      write: (work, options) =>
        earlier.write(async (on) => {
          const query: typeof on.query = async (...asked) => {
            const rows = await on.query(...asked);
            if (asked[0].includes('max(key)')) added ??= insert(earlier, [1], 'lake');
            await added;
            return rows;
          };
          return work({ query });
        }, options),
    });
    assert.ok(added);
    assert.deepEqual(await earlier.read((on) => on.query(unlabelled)), []);
    const former = 'CREATE INDEX kb_passage_words_index ON carrel.kb_passage_words USING gin (words)';
    await earlier.alone((on) => on.query(former));
    await labelWords(earlier);
    assert.deepEqual(await wordIndexes(earlier), ['kb_passage_words_by_label']);
    await earlier.close();
    await other.drop();
  });

  test('labels that a backup does not have yet are filled in by its restoration', async () => {
    const [folder, target] = [temporaryFolder(), await createTestDatabase(server)];
    const place = (url: string) => ({ storage: { backend: 'postgres' as const, url }, originals: folder });
    const quiet = { force: false, onProgress: () => {} };
    await connections.write((statements) =>
      statements.query('UPDATE carrel.kb_passage_words SET labels = NULL WHERE key % 2 = 0'),
    );
    assert.match(String(await storage.check()), /labels/);
    await backUp(place(database.url), `${folder}/words.tar`, quiet);
    await restore(place(target.url), `${folder}/words.tar`, quiet);
    await connections.write((statements) => statements.query(labelRest));
    const restored = await createPostgresStorage({ url: target.url });
    const search = { query: parseQuery('wick'), filter: { labels: [['half0']] }, limit: 100, offset: 0 };
    const answers = await Promise.all([storage, restored].map(({ passages }) => passages.search(search)));
    assert.ok(answers[0] && answers[0].total > 30);
    assert.deepEqual(answers[1], answers[0]);
    await restored.close();
    await target.drop();
  });

  /** With a dialect of its own, that knows nothing yet. Notes what the statements got, and themselves. */
  function findWith(context: TestContext, values: unknown[] = [], asked: string[] = [], to = connections) {
    const cutter = createTextCutter();
    context.after(() => cutter.close());
    const shares = createWordShares(to);
    const statistics = createFreshStatistics(to, shares);
    const dialect = createPostgresDialect({ indexes: undefined, statistics, shares, cutter });
    return (text: string, labels: PassageFilter, page: Page, { isIndexed = true } = {}) =>
      to.read((connection) => {
        const { query } = withQuestionMarks(connection);
        const noted: Statements['query'] = (sql, bound, ...more) => {
          asked.push(sql);
          values.push(bound);
          return query(sql, bound, ...more);
        };
        const on = { dialect, now: new Date().toISOString(), query: noted };
        const filter = dialect.passages.filter(labels);
        const used = filter && (isIndexed ? filter : { ...filter, onWords: undefined });
        return findWords(on, { ...passageWords, totalMax }, parseQuery(text), used, page);
      });
  }
});

const unlabelled = 'SELECT key FROM carrel.kb_passage_words WHERE labels IS NULL';

/** As a program of an earlier version does it. */
function insert(connections: Connections, keys: readonly number[], label: string): Promise<void> {
  return connections.write(async (on) => {
    await on.query(
      `INSERT INTO carrel.kb_passages (key, id, parent, position, title, headings, body, labels)
       OVERRIDING SYSTEM VALUE SELECT key, 'p' || key, '1', 0, '', '{}', 'heron', ARRAY[$2] FROM unnest($1::bigint[]) key`,
      [keys, label],
    );
    await on.query(
      `INSERT INTO carrel.kb_passage_terms SELECT key, '', '', '', '', ' heron ', '', 0, 0, 1 FROM unnest($1::bigint[]) key`,
      [keys],
    );
    await on.query(`INSERT INTO carrel.kb_passage_words SELECT key, 'heron'::tsvector FROM unnest($1::bigint[]) key`, [
      keys,
    ]);
  });
}

function wordIndexes(connections: Connections): Promise<unknown[]> {
  return connections.read(async (on) => {
    const rows = await on.query(
      `SELECT relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       WHERE indrelid = 'carrel.kb_passage_words'::regclass AND NOT indisprimary`,
    );
    return rows.map((row) => row['relname']);
  });
}

/** Somebody who has changed a passage and is not done yet, so that whoever wants its labels waits. */
function holdPassage(connections: Connections, key: number) {
  const held = Promise.withResolvers<void>();
  const next = Promise.withResolvers<string>();
  const done = connections.write(async (on) => {
    await on.query('SELECT 1 FROM carrel.kb_passages WHERE key = $1 FOR UPDATE', [key]);
    held.resolve();
    await on.query('UPDATE carrel.kb_passages SET labels = ARRAY[$2] WHERE key = $1', [key, await next.promise]);
  });
  return {
    isHeld: held.promise,
    relabel(label: string) {
      next.resolve(label);
      return done;
    },
  };
}

function passageOf(number: number): Passage {
  const rare = `${number % 7 === 0 ? 'ember' : ''} ${number % 31 === 0 ? 'wick' : ''}`;
  const many = number === 100 ? Array.from({ length: 400 }, (_, at) => `q${at}xjq`).join(' ') : '';
  return {
    ...{ id: `p${number}`, position: 0, title: '', headings: [] },
    body: `A ${'lantern '.repeat(1 + (number % 3))}of ${number % 2 === 0 ? 'copper' : 'brass'}, ${rare} ${many} ${'long '.repeat(number % 200)}`,
    labels: [
      ...[`half${Math.floor(number / 2) % 2}`, `tenth${number % 10}`, `fiftieth${number % 50}`],
      ...(number % 20 === 0 ? [] : ['most']),
    ],
  };
}
