import type { PassageFilter } from '../contracts/passages.ts';
import type { ScoredVector } from '../contracts/vectors.ts';
import type { Statements } from '../dialect.ts';
import { type Condition, numberOf } from '../rows.ts';
import { estimate } from './estimate.ts';
import { distanceOf, keyOf, nearestCodes } from './nearest-codes.ts';
import { passageCondition } from './passage-table.ts';
import { realArray } from './real-array.ts';
import { type IndexedModel, scoredVector, scoreSql } from './scored-vectors.ts';
import { addSums, isSettled, noSums, type Sums, sumsOf, sumsSql } from './settling.ts';
import { areComplete } from './vector-codes.ts';
import { type WideLabels, wideLabelMin } from './wide-labels.ts';

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

const nothing: Compared = { best: [], sums: noSums, size: 0 };

/** The vectors whose codes are nearest, so many of them, as a statement. */
interface Near extends Condition {
  readonly limit: number;
  /** There may be more. */
  readonly isBounded: boolean;
}

/**
 * For so many owners, the vectors that are compared after their codes were, at first; and how many times as many then. Where the
 * codes give an estimate, a part of them is as sure.
 */
const comparedFor = (limit: number) => 200 + 10 * limit;
const estimatedShare = 0.75;
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
    isReady: (on, model) => areComplete(on, model, 'steady'),
    isLong: ({ parents = [] }) => parents.length > listMax,
    lookedAtMeanwhile({ filter: { labels = [], parents }, limit, owned }) {
      if (parents !== undefined) return owned / 60 + comparedFor(limit) / 3;
      // Of one label, there is a table of its own, or will be.
      if (labels.flat().length === 1 && owned >= wideLabelMin) return owned / 300 + comparedFor(limit) / 5;
      return owned / 130 + comparedFor(limit) / 3;
    },
    async search(on, model, request) {
      const { read, first } = await createReading(on, model, request);
      let compared = nothing;
      let near = read(first);
      for (let size = first; ; ) {
        if (near.limit < size) {
          // Estimates put more of them in another order.
          if (near.isBounded) compared = nothing;
          near = read(size, near);
        }
        const found = await compare(on, model, request, { near, compared, size });
        compared = found.compared;
        near = found.near;
        if (compared.size === size) {
          const by = near.isBounded ? 'estimate' : 'apart';
          if (isSettled(compared.best, compared.sums, { limit: request.limit, by })) return [...compared.best];
          size *= times;
        } else if (near.isBounded) {
          compared = nothing;
          near = read(size, { isBounded: false });
        } else {
          return [...compared.best];
        }
      }
    },
  };

  /** How the codes of what passes are read, and how many vectors are compared at first. */
  async function createReading(
    on: Statements,
    model: IndexedModel,
    request: CodedRequest<PassageFilter>,
  ): Promise<{
    readonly read: (size: number, options?: Pick<Near, 'isBounded'>) => Near;
    readonly first: number;
  }> {
    const { filter, rows } = await narrowestFirst(on, request);
    const [group = [], ...others] = filter.labels ?? [];
    const tables = filter.parents === undefined ? await wide.find(on, model, group, rows) : undefined;
    const mayBeBounded = tables?.length === 1 && others.length === 0;
    const first = Math.ceil(comparedFor(request.limit) * (mayBeBounded ? estimatedShare : 1));
    const read = (size: number, { isBounded } = { isBounded: mayBeBounded }): Near => {
      const ordered = Math.ceil(size / (isBounded ? estimatedShare : 1));
      const limit = request.owned > keptFrom * keptTimes * ordered ? keptTimes * ordered : ordered;
      const codes = nearestCodes(model.key, filter, { query: request.query, limit, extension, tables, isBounded });
      return { ...codes, limit, isBounded };
    };
    return { read, first };
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
         SELECT * FROM near ORDER BY place OFFSET ${compared.size} LIMIT ${size - compared.size}),
       scored AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, ${distanceOf('n.place')} AS apart,
           ${scoreSql(extension, model)} AS score
         FROM more n JOIN carrel.kb_vectors v ON v.key = ${keyOf('n.place')}),
       best AS MATERIALIZED (SELECT * FROM scored ORDER BY score DESC, key LIMIT ${limit * bestPerOwner})
       SELECT b.key, b.owner, b.start_at, b.end_at, b.score, NULL AS sums, NULL AS more, NULL AS places
       FROM best b JOIN carrel.kb_passages o ON o.key = b.owner WHERE ${passes.sql}
       UNION ALL
       SELECT NULL, NULL, NULL, NULL, NULL, (SELECT ${sumsSql} FROM scored), (SELECT count(*) FROM more),
         (SELECT array_agg(place)::text FROM near)`,
      [...near.values, realArray(query), ...passes.values],
    );
    const [last = {}] = rows.splice(-1);
    const best = [...compared.best, ...rows.map(scoredVector)].sort((a, b) => b.score - a.score || a.key - b.key);
    const sums = addSums(compared.sums, sumsOf(last['sums']));
    // All whose codes were asked for, compared or not: so the codes need not be read again.
    const values = [String(last['places'] ?? '{}')];
    return {
      compared: { best: best.slice(0, limit * bestPerOwner), sums, size: compared.size + numberOf(last, 'more') },
      near: { ...near, sql: 'SELECT * FROM unnest(?::bigint[]) AS n (place)', values },
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
