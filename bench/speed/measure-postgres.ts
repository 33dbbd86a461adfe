import assert from 'node:assert/strict';
import { type BothDatabases, openBoth } from './both-databases.ts';
import type { CarrelUnderTest } from './carrel.ts';
import { type ExactAnswers, exactAnswers, type Filter, filtersOf } from './filters.ts';
import { countCpuTime, isCpuTime, measureInterleaved, type Timings } from './timings.ts';

export interface PostgresFigures extends Pick<BothDatabases, 'loaded' | 'bytes'> {
  readonly searches: readonly { readonly name: string; readonly sqlite: Timings; readonly postgres: Timings }[];
  /** The first row is the search without a filter, with which the others are compared. */
  readonly filters: readonly FilterFigures[];
}

/** Figures of vector searches with one filter on PostgreSQL. */
export interface FilterFigures {
  readonly name: string;
  readonly passing: number;
  /** Times of searches for ten results, and for a hundred, as a hybrid search requests. */
  readonly ten: Timings;
  readonly hundred: Timings;
  readonly recall: number;
}

const limit = 10;

/** Number of queries whose results are compared with the exact ones to compute recall. */
const recallQueries = 40;

export async function measurePostgres(passages: number, searches: number, keep?: string): Promise<PostgresFigures> {
  const databases = await openBoth(passages, keep);
  try {
    if (isCpuTime()) countCpuTime(databases.serverCpuMs);
    const filters = filtersOf();
    const exact = exactAnswers(filters, { passages, queries: recallQueries, limit });
    return {
      loaded: databases.loaded,
      bytes: databases.bytes,
      searches: await compareSearches(databases, filters, searches),
      filters: await measureFilters(databases.postgres, filters, exact, searches),
    };
  } finally {
    await databases.close();
  }
}

/** Measures keyword, vector and hybrid searches, with and without filters, alternating between the two databases. */
async function compareSearches({ sqlite, postgres }: BothDatabases, filters: readonly Filter[], searches: number) {
  const kinds = filters.slice(0, 5).flatMap(({ name, filter }) => {
    const tags = (filter?.labels ?? []).flat().map((label) => label.replace('tag:', ''));
    return [
      {
        name: `words, ${name}`,
        search: (carrel: CarrelUnderTest, number: number) => carrel.words(number, limit, filter),
      },
      {
        name: `meaning, ${name}`,
        search: (carrel: CarrelUnderTest, number: number) => carrel.meaning(number, limit, filter),
      },
      {
        name: `hybrid, ${name}`,
        search: (carrel: CarrelUnderTest, number: number) => carrel.hybrid(number, limit, tags),
      },
    ];
  });
  const calls = Object.fromEntries(
    kinds.flatMap(({ name, search }) => [
      [`sqlite ${name}`, (number: number) => search(sqlite, number)],
      [`postgres ${name}`, (number: number) => search(postgres, number)],
    ]),
  );
  const timings = await measureInterleaved(calls, searches);
  const timingsOf = (name: string): Timings => timings[name] ?? { p50: 0, p99: 0 };
  return kinds.map(({ name }) => ({
    name,
    sqlite: timingsOf(`sqlite ${name}`),
    postgres: timingsOf(`postgres ${name}`),
  }));
}

async function measureFilters(
  carrel: CarrelUnderTest,
  filters: readonly Filter[],
  exact: readonly ExactAnswers[],
  searches: number,
): Promise<FilterFigures[]> {
  const timingsFor = (results: number) =>
    measureInterleaved(
      Object.fromEntries(
        filters.map(({ name, filter }) => [name, (number: number) => carrel.meaning(number, results, filter)]),
      ),
      searches,
    );
  const [ten, hundred] = [await timingsFor(limit), await timingsFor(10 * limit)];
  const figures: FilterFigures[] = [];
  for (const [index, { name, filter }] of filters.entries()) {
    const { passing, nearest } = exact[index] ?? { passing: 0, nearest: [] };
    let found = 0;
    for (const [query, numbers] of nearest.entries()) {
      const { matches } = await carrel.meaning(query, limit, filter);
      // The keys of a new table begin at 1, in row order.
      found += matches.filter(({ id }) => numbers.includes(id - 1)).length;
    }
    const timings = { ten: ten[name], hundred: hundred[name] };
    assert(timings.ten && timings.hundred);
    figures.push({ name, passing, ten: timings.ten, hundred: timings.hundred, recall: found / nearest.flat().length });
  }
  return figures;
}
