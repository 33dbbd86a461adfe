import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { createMeaning, type Meaning } from '../../src/search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../src/search/models/embedding-provider.ts';
import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { dotProduct } from '../../src/storage/vectors/quantise.ts';
import { type PassageWriter, passageWriter, type TestPassage } from '../support/passages.ts';
import { createPlainDatabase, type PostgresServer, serverObstacle, startPostgres } from '../support/postgres.ts';
import { nearVector, randomNumbers, randomUnitVector } from '../support/test-vectors.ts';

const dimensions = 48;
/** Enough for several scanning threads. */
const count = 6_000;
const queries = 20;

const random = randomNumbers(29);
const centres = Array.from({ length: 60 }, () => randomUnitVector(dimensions, random));
const near = (number: number) => nearVector(centres[number % 60] ?? new Float32Array(dimensions), 0.7, random);
const vectors = Array.from({ length: count }, (_, number) => near(number));
const asked = Array.from({ length: queries }, (_, number) => near(number * 7));

const queryVector = (number: number) => asked[number] ?? new Float32Array(dimensions);
/** Passages that two processes add later match a query. */
const vectorOf = (number: number) => vectors[number] ?? queryVector(Math.floor((number - count) / 2));

const provider: EmbeddingProvider = {
  name: 'test:clusters',
  dimensions,
  // Another process may embed a passage before its writer does.
  embed: async (texts) =>
    texts.map((text) => {
      const [kind, number] = text.split(' ');
      return kind === 'query' ? queryVector(Number(number)) : vectorOf(Number(number));
    }),
  close: async () => {},
};

describe('PostgreSQL without pgvector (issue: search core, meaning)', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let drop: (() => Promise<void>) | undefined;
  let [here, there]: Process[] = [];
  const processes: Process[] = [];

  before(async () => {
    const started = await startPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    const database = await createPlainDatabase(server);
    if (database === undefined) return;
    ({ drop } = database);
    here = await open(database.url);
    there = await open(database.url);
    processes.push(here, there);
    const batch = 1_000;
    for (let first = 0; first < count; first += batch) {
      const passages = Array.from({ length: batch }, (_, index) => passageOf(first + index));
      await here.passages.replace([{ parent: `document ${first}`, passages }]);
    }
  });
  after(async () => {
    for (const each of processes) {
      await each.meaning.close();
      await each.storage.close();
    }
    await drop?.();
    await server.stop();
  });

  test('searches vectors in memory, and reports so', async (context) => {
    if (here === undefined) return context.skip('the server lets us make no users');
    assert.equal(here.storage.vectors.kb.isIndexed, false);
    const [state] = await here.storage.vectors.kb.models();
    assert.deepEqual([state?.index, state?.vectors], ['memory', count]);
  });

  const filters: [string, PassageFilter | undefined, (number: number) => boolean][] = [
    ['no filter', undefined, () => true],
    ['a broad one', { labels: [['tag:odd']] }, (number) => number % 2 === 1],
    ['a narrow one', { labels: [['tag:rare']] }, (number) => number % 100 === 7],
  ];
  for (const [name, filter, passes] of filters) {
    test(`recall@10 is at least 0.99 with ${name}`, async (context) => {
      if (here === undefined) return context.skip('the server lets us make no users');
      let found = 0;
      for (const [number, query] of asked.entries()) {
        const wanted = new Set(exact(query, passes));
        const ids = await search(here, number, 10, filter);
        found += ids.filter((id) => wanted.has(id)).length;
      }
      assert.ok(found / (queries * 10) >= 0.99, `recall@10 ${found / (queries * 10)}`);
    });
  }

  test('concurrent writes and deletions of several processes are seen by all', async (context) => {
    const all = [here, there].filter((each) => each !== undefined);
    if (all.length < 2) return context.skip('the server lets us make no users');
    const rounds = 20;
    await Promise.all(
      all.map(async (each, writer) => {
        for (let round = 0; round < rounds; round += 1) {
          const number = count + 2 * round + writer;
          await each.passages.replace([{ parent: `new ${number}`, passages: [passageOf(number)] }]);
          // A concurrent refresh of the vectors in memory must not miss rows that are committed late.
          await search(each, round % queries, 1);
        }
      }),
    );
    for (const each of all) {
      for (const number of asked.keys()) {
        const fresh = new Set([count + 2 * number, count + 2 * number + 1].map((added) => `p${added}`));
        assert.deepEqual(new Set(await search(each, number, 2)), fresh);
      }
    }
    await here?.passages.remove(asked.map((_, number) => `new ${count + 2 * number}`));
    for (const each of all) {
      assert.deepEqual(await search(each, 3, 1), [`p${count + 7}`]);
    }
  });
});

interface Process {
  readonly storage: Storage;
  readonly passages: PassageWriter;
  readonly meaning: Meaning<PassageFilter>;
}

async function open(url: string): Promise<Process> {
  const storage = await createPostgresStorage({ url });
  return {
    storage,
    passages: passageWriter(storage),
    meaning: createMeaning({ vectors: storage.vectors.kb, provider, log: silentLogger }),
  };
}

async function search({ storage, meaning }: Process, number: number, limit: number, filter?: PassageFilter) {
  const { signal } = new AbortController();
  const { matches } = await meaning.search({ text: `query ${number}`, limit, filter, signal });
  const passages = await storage.passages.get(matches.map(({ id }) => id));
  return passages.map(({ body }) => body.replace('passage ', 'p'));
}

function passageOf(number: number): TestPassage {
  const labels = [number % 2 === 0 ? 'even' : 'odd', ...(number % 100 === 7 ? ['rare'] : [])];
  const windows = [{ start: 0, end: 1, vector: vectorOf(number) }];
  const own = { model: provider.name, windows };
  return { id: `p${number}`, title: '', headings: [], body: `passage ${number}`, labels, vectors: own };
}

function exact(query: Float32Array, passes: (number: number) => boolean): string[] {
  return vectors
    .map((vector, number) => ({ number, score: passes(number) ? dotProduct(query, vector) : -2 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 10)
    .map(({ number }) => `p${number}`);
}
