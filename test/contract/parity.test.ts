import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { PassageSearch } from '../../src/storage/passages/passage.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { parseBooleanQuery } from '../../src/words/boolean-query.ts';
import { phraseQuery, plainQuery, prefixQuery, type WordQuery } from '../../src/words/word-query.ts';
import { temporaryFolder } from '../support/backends.ts';
import { passageWriter, type TestDocument } from '../support/passages.ts';
import { createTestDatabase, type PostgresServer, postgresObstacle, startPostgres } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';

const obstacle = postgresObstacle();
const queries = size({ quick: 150, full: 1_000 });

describe('T103: both databases', { skip: obstacle ?? false }, () => {
  let sqlite: Storage;
  let postgres: Storage;
  let server: PostgresServer;
  const folder = temporaryFolder();
  const random = createRandom(20261115);

  before(async () => {
    const started = await startPostgres();
    assert.ok(typeof started !== 'string');
    server = started;
    sqlite = await createSqliteStorage({ path: join(folder, 'parity.db') });
    postgres = await createPostgresStorage({ url: (await createTestDatabase(server)).url });
    const documents = makeDocuments(random);
    await passageWriter(sqlite).replace(documents);
    await passageWriter(postgres).replace(documents);
  });

  after(async () => {
    await sqlite?.close();
    await postgres?.close();
    await server?.stop();
  });

  test(`find the same passages in the same order with the same scores, for ${queries} generated queries`, async () => {
    let found = 0;
    for (let count = 0; count < queries; count += 1) {
      const { text, request } = makeSearch(random);
      const [left, right] = await Promise.all([sqlite.passages.search(request), postgres.passages.search(request)]);
      // Rows written in the same order have the same keys.
      assert.deepEqual(left, right, `query ${JSON.stringify(text)} ${JSON.stringify(request.filter)}`);
      if (left.total > 0) found += 1;
    }
    assert.ok(found > 0.4 * queries, `only ${found} queries found something`);
  });
});

const vocabulary = [
  ...'the machine learning model runs running runner update updates updated install installer system data network'.split(
    ' ',
  ),
  ...'fooBar foo_bar foo bar multi-agent multi agent a.b.c 20.04 20 C++ C# HTTPServer café naïve Straße'.split(' '),
  ...'東京都庁 東京 京都 機械学習 学习 한국어를 한국 ภาษาไทย ไทย 😀 x y z what is how'.split(' '),
];
const noise = [
  '"',
  '*',
  '(',
  ')',
  'AND',
  'OR',
  'NOT',
  '-',
  ':',
  "'",
  '\\',
  '&',
  '|',
  '!',
  '<->',
  ':*',
  '^',
  '%',
  '\0',
  '\ud800',
];

/** Fewer than the candidate pool, so that every match is scored. */
function makeDocuments(random: Random): TestDocument[] {
  return Array.from({ length: 65 }, (_, document) => {
    const title = random.words(vocabulary, 3);
    const passages = Array.from({ length: 3 }, (_, position) => ({
      id: `d${document}p${position}`,
      title,
      headings: [random.words(vocabulary, 2), random.words(vocabulary, 1)],
      body: random.words(vocabulary, 1 + random.below(40)),
      labels: [`l${document % 3}`, `m${document % 5}`],
    }));
    return { parent: `d${document}`, passages };
  });
}

function makeSearch(random: Random): { text: string; request: PassageSearch } {
  const pieces = Array.from({ length: 1 + random.below(7) }, () => {
    const kind = random.below(10);
    if (kind < 5) return random.pick(vocabulary);
    if (kind < 6) return `"${random.words(vocabulary, 1 + random.below(3))}"${random.below(2) ? '*' : ''}`;
    if (kind < 7) return `${random.pick(vocabulary).slice(0, 1 + random.below(4))}*`;
    return random.pick(noise);
  });
  const text = pieces.join(' ');
  const make = random.pick([parseOrPlain, parseOrPlain, plainQuery, phraseQuery, prefixQuery]);
  const filter = random.pick([
    undefined,
    undefined,
    {
      labels: [
        ['tag:l0', 'tag:l1'],
        ['tag:m1', 'tag:m2'],
      ],
    },
    { labels: [['tag:l2']] },
  ]);
  return { text, request: { query: make(text), filter, limit: 1 + random.below(30), offset: random.below(5) } };
}

/** Queries with too many short prefixes are rejected before any database is asked. */
function parseOrPlain(text: string): WordQuery {
  try {
    return parseBooleanQuery(text).query;
  } catch {
    return plainQuery(text);
  }
}

type Random = ReturnType<typeof createRandom>;

/** The same queries in each run, so that failures are repeatable. */
function createRandom(seed: number) {
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const words = (list: readonly string[], count: number): string =>
    Array.from({ length: count }, () => pick(list)).join(' ');
  return { below, pick, words };
}
