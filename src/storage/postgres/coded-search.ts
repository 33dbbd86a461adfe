import type { PassageFilter } from '../contracts/passages.ts';
import type { ScoredVector } from '../contracts/vectors.ts';
import type { Statements } from '../dialect.ts';
import { type Condition, numberOf } from '../rows.ts';
import { estimate } from './estimate.ts';
import { passageCondition } from './passage-table.ts';
import { realArray } from './real-array.ts';
import { type IndexedModel, scoredVector, scoreSql } from './scored-vectors.ts';
import { addSums, isSettled, noSums, type Sums, sumsOf, sumsSql } from './settling.ts';
import { areComplete, nearestCodes } from './vector-codes.ts';
import type { WideLabels } from './wide-labels.ts';

/** Finds the nearest by their codes, among what a filter lets through. */
export interface CodedSearch<Filter> {
  isReady(on: Statements, model: number): Promise<boolean>;
  /** A list that takes long to ask about one passage. */
  isLong(filter: Filter): boolean;
  /** At how many vectors the index of vectors can look in the time of a search. */
  lookedAtMeanwhile(request: Omit<CodedRequest<Filter>, 'query'>): number;
  search(on: Statements, model: IndexedModel, request: CodedRequest<Filter>): Promise<ScoredVector[]>;
}

interface CodedRequest<Filter> {
  readonly filter: Filter;
  readonly query: Float32Array;
  /** Owners. */
  readonly limit: number;
  /** About how many owners pass. */
  readonly owned: number;
}

/** What was found by its codes so far. */
interface Compared {
  readonly best: readonly ScoredVector[];
  readonly sums: Sums;
  /** Of those whose codes are nearest, how many were compared. */
  readonly size: number;
}

/** The vectors whose codes are nearest, so many of them, as a statement. */
interface Near extends Condition {
  readonly limit: number;
  /** There may be more. */
  readonly isBounded: boolean;
}

/** For so many owners, the vectors that are compared after their codes were, at first; and how many times as many then. */
const comparedFor = (limit: number) => 200 + 10 * limit;
const times = 2;

/**
 * So many times as many codes are put in order at once and kept, where so many times as many pass as these: to read all codes
 * again would take longer.
 */
const keptTimes = 4;
const keptFrom = 4;

const listMax = 100;

/** Vectors for each owner that is wanted: a long text has several. */
const bestPerOwner = 4;

export function createCodedSearch(extension: string, wide: WideLabels): CodedSearch<PassageFilter> {
  return {
    isReady: areComplete,
    isLong: ({ parents = [] }) => parents.length > listMax,
    lookedAtMeanwhile: ({ filter: { parents }, limit, owned }) =>
      owned / (parents === undefined ? 130 : 60) + comparedFor(limit) / 3,
    async search(on, model, request) {
      const read = await createReading(on, model, request);
      let compared: Compared = { best: [], sums: noSums, size: 0 };
      let near: Near | undefined;
      for (let size = comparedFor(request.limit); ; ) {
        if (near === undefined || near.limit < size) near = read(size);
        const found = await compare(on, model, request, { near, compared, size });
        compared = found.compared;
        near = found.near;
        if (compared.size === size) {
          if (isSettled(compared.best, compared.sums, request.limit)) return [...compared.best];
          size *= times;
        } else if (near.isBounded) {
          near = read(size, { isBounded: false });
        } else {
          return [...compared.best];
        }
      }
    },
  };

  /** How the codes of what passes are read. */
  async function createReading(
    on: Statements,
    model: IndexedModel,
    request: CodedRequest<PassageFilter>,
  ): Promise<(size: number, options?: { readonly isBounded: boolean }) => Near> {
    const { filter, rows } = await narrowestFirst(on, request);
    const [first = [], ...others] = filter.labels ?? [];
    const tables = filter.parents === undefined ? await wide.find(on, model, first, rows) : undefined;
    const query = realArray(request.query);
    const mayBeBounded = tables?.length === 1 && others.length === 0;
    return (size, { isBounded } = { isBounded: mayBeBounded }) => {
      const limit = request.owned > keptFrom * keptTimes * size ? keptTimes * size : size;
      const codes = nearestCodes(model.key, filter, { query, limit, extension, tables, isBounded });
      return { ...codes, limit, isBounded };
    };
  }

  /** Besides those that have been compared, as many more as there are to be in all. */
  async function compare(
    on: Statements,
    model: IndexedModel,
    { filter, query, limit }: CodedRequest<PassageFilter>,
    { near, compared, size }: { readonly near: Near; readonly compared: Compared; readonly size: number },
  ): Promise<{ readonly compared: Compared; readonly near: Near }> {
    const passes = passing(filter);
    const rows = await on.query(
      `WITH near AS MATERIALIZED (${near.sql}), more AS MATERIALIZED (
         SELECT * FROM near ORDER BY apart, key OFFSET ${compared.size} LIMIT ${size - compared.size}),
       scored AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, n.apart, ${scoreSql(extension, model)} AS score
         FROM more n JOIN carrel.kb_vectors v ON v.key = n.key),
       best AS MATERIALIZED (SELECT * FROM scored ORDER BY score DESC, key LIMIT ${limit * bestPerOwner})
       SELECT b.key, b.owner, b.start_at, b.end_at, b.score, NULL AS sums, NULL AS more, NULL AS keys, NULL AS apart
       FROM best b JOIN carrel.kb_passages o ON o.key = b.owner WHERE ${passes.sql}
       UNION ALL
       SELECT NULL, NULL, NULL, NULL, NULL, (SELECT ${sumsSql} FROM scored), (SELECT count(*) FROM more),
         (SELECT array_agg(key)::text FROM near), (SELECT array_agg(apart)::text FROM near)`,
      [...near.values, realArray(query), ...passes.values],
    );
    const [last = {}] = rows.splice(-1);
    const best = [...compared.best, ...rows.map(scoredVector)].sort((a, b) => b.score - a.score || a.key - b.key);
    const sums = addSums(compared.sums, sumsOf(last['sums']));
    // All whose codes were asked for, compared or not: so the codes need not be read again.
    const values = [last['keys'] ?? '{}', last['apart'] ?? '{}'].map(String);
    return {
      compared: { best: best.slice(0, limit * bestPerOwner), sums, size: compared.size + numberOf(last, 'more') },
      near: { ...near, sql: 'SELECT * FROM unnest(?::bigint[], ?::float8[]) AS n (key, apart)', values },
    };
  }
}

/** What the first group of labels lets through is read, so it should be the one that lets through least: about how many. */
async function narrowestFirst(
  on: Statements,
  { filter, owned }: CodedRequest<PassageFilter>,
): Promise<{ readonly filter: PassageFilter; readonly rows: number }> {
  const { labels = [] } = filter;
  if (labels.length < 2) return { filter, rows: owned };
  const groups = [];
  for (const group of labels) {
    const condition = passing({ labels: [group] });
    groups.push({ group, passing: await estimate(on, 'carrel.kb_passages', condition) });
  }
  groups.sort((a, b) => a.passing - b.passing);
  return { filter: { ...filter, labels: groups.map(({ group }) => group) }, rows: groups[0]?.passing ?? owned };
}

/** The passages themselves are asked again: what may be seen by whom must not depend on a copy of their labels. */
function passing(filter: PassageFilter): Condition {
  return passageCondition(filter) ?? { sql: 'TRUE', values: [] };
}
