import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { PassageFilter } from '../../src/storage/contracts/passages.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { createTestDatabase, startRealPostgres } from '../../test/support/postgres.ts';
import { createProductOn, model, type SearchedProduct } from './product.ts';
import { documentsOf, parentOf, passagesOfDocument } from './rows.ts';
import { type Timings, takeTurns } from './timings.ts';
import { queryVectorOf, vectorOf } from './vectors.ts';

/** One filter of searches by meaning on PostgreSQL. */
export interface FilterFigures {
  readonly name: string;
  readonly passing: number;
  readonly timings: Timings;
  readonly recall: number;
}

interface Filter {
  readonly name: string;
  readonly filter: PassageFilter | undefined;
  passes(number: number): boolean;
}

const batchSize = 1000;
const limit = 10;

/** Queries whose exact answers are looked up for the recall. */
const checked = 40;

/** The first is the search without a filter, which the others are compared with. */
export async function measurePostgres(passages: number, searches: number): Promise<FilterFigures[]> {
  const server = await startRealPostgres();
  assert.ok(typeof server !== 'string', String(server));
  const database = await createTestDatabase(server);
  const storage = await createPostgresStorage({ url: database.url });
  const product = createProductOn(storage);
  try {
    for (let first = 0; first < passages; first += batchSize) {
      await product.insert(documentsOf(first, Math.min(batchSize, passages - first)));
    }
    // Behind all texts, as after an import: the index is made when most of them are there.
    while ((await product.insertVectors(batchSize)) > 0);
    await indexed(storage);
    return await measureFilters(product, filtersOf(passages), passages, searches);
  } finally {
    await product.close();
    await database.drop();
    await server.stop();
  }
}

function filtersOf(passages: number): Filter[] {
  const parents = Array.from({ length: Math.ceil(passages / passagesOfDocument / 100) }, (_, at) =>
    parentOf(at * 100 * passagesOfDocument),
  );
  const label = (name: string): PassageFilter => ({ labels: [[name]] });
  return [
    { name: 'no filter', filter: undefined, passes: () => true },
    { name: 'half by label', filter: label('tag:half1'), passes: (number) => number % 2 === 1 },
    { name: 'a tenth by label', filter: label('tag:collection3'), passes: (number) => number % 10 === 3 },
    {
      name: 'a hundredth by document',
      filter: { parents },
      passes: (number) => Math.floor(number / passagesOfDocument) % 100 === 0,
    },
  ];
}

async function measureFilters(
  product: SearchedProduct,
  filters: readonly Filter[],
  passages: number,
  searches: number,
): Promise<FilterFigures[]> {
  const calls = Object.fromEntries(
    filters.map(({ name, filter }) => [name, (number: number) => product.meaning(number, limit, filter)]),
  );
  const timings = await takeTurns(calls, searches);
  const figures: FilterFigures[] = [];
  const vectors = Array.from({ length: passages }, (_, number) => vectorOf(number));
  for (const { name, filter, passes } of filters) {
    const numbers = vectors.map((_, number) => number).filter(passes);
    let found = 0;
    for (let query = 0; query < checked; query += 1) {
      const wanted = new Set(exact(queryVectorOf(query), numbers, vectors));
      const { matches } = await product.meaning(query, limit, filter);
      // The keys of a fresh table begin at 1, in the order of the rows.
      found += matches.filter(({ id }) => wanted.has(id - 1)).length;
    }
    const own = timings[name];
    assert(own);
    figures.push({ name, passing: numbers.length, timings: own, recall: found / (checked * limit) });
  }
  return figures;
}

function exact(query: Float32Array, numbers: readonly number[], vectors: readonly Float32Array[]): number[] {
  const score = (vector: Float32Array) => {
    let sum = 0;
    for (let at = 0; at < query.length; at += 1) sum += (query[at] ?? 0) * (vector[at] ?? 0);
    return sum;
  };
  return numbers
    .map((number) => ({ number, score: score(vectors[number] ?? query) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ number }) => number);
}

/** The index is made in the background when the first search asks for it: without it everything is compared. */
async function indexed({ vectors: { kb } }: Storage): Promise<void> {
  await kb.nearest?.({ model, query: queryVectorOf(0), limit });
  while ((await kb.models())[0]?.index === 'none') await setTimeout(500);
}
