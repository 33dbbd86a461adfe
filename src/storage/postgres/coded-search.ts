import type { PassageFilter } from '../contracts/passages.ts';
import type { ScoredVector } from '../contracts/vectors.ts';
import type { Statements } from '../dialect.ts';
import type { Condition } from '../rows.ts';
import { estimate } from './estimate.ts';
import { passageCondition } from './passage-table.ts';
import { realArray } from './real-array.ts';
import { type IndexedModel, scoredVector, scoreSql } from './scored-vectors.ts';
import { areComplete, nearestCodes } from './vector-codes.ts';

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

interface Compared {
  readonly best: ScoredVector[];
  readonly line: Line;
  /** All whose codes were asked for, compared or not: so the codes need not be read again. */
  readonly near: Condition;
}

/** How the scores of those that were compared go with the distances of their codes. */
interface Line {
  readonly count: number;
  readonly score: number;
  readonly apart: number;
  readonly slope: number;
  readonly deviation: number;
  /** The farthest code. */
  readonly edge: number;
}

/** For so many owners, the vectors that are compared after their codes were, at first; and how many times as many then. */
const comparedFor = (limit: number) => 200 + 10 * limit;
const times = 4;

/**
 * Where so many times as many pass as could be compared the next time, these are put in order at once and kept: to read all codes
 * again would take longer.
 */
const keptFrom = 8;

const listMax = 100;

/** Vectors for each owner that is wanted: a long text has several. */
const bestPerOwner = 4;

/**
 * Of the answer, how much may be expected among what was left out: see `expectedBeyond`, which is on the safe side. With a
 * twentieth, recall@10 was 0.99 and more whatever the filter; with a tenth 0.98 for a subject among a million, with four
 * tenths 0.975 where the filter is against the query.
 */
const missedMax = 0.05;

export function createCodedSearch(extension: string): CodedSearch<PassageFilter> {
  return {
    isReady: areComplete,
    isLong: ({ parents = [] }) => parents.length > listMax,
    lookedAtMeanwhile: ({ filter: { parents }, limit, owned }) =>
      owned / (parents === undefined ? 130 : 60) + comparedFor(limit) / 3,
    async search(on, model, request) {
      const { limit, owned } = request;
      const filter = await narrowestFirst(on, request.filter);
      let known: Condition | undefined;
      for (let size = comparedFor(limit); ; size *= times) {
        const most = owned > keptFrom * size * times ? size * times : size;
        const near =
          known ?? nearestCodes(model.key, filter, { query: realArray(request.query), limit: most, extension });
        const compared = await compare(on, model, request, { near, size });
        if (compared.line.count < size || isSettled(compared.best, compared.line, limit)) return compared.best;
        known = known === undefined && most > size ? compared.near : undefined;
      }
    },
  };

  /** The best of those whose codes are nearest, of some that were found by them. */
  async function compare(
    on: Statements,
    model: IndexedModel,
    { filter, query, limit }: CodedRequest<PassageFilter>,
    { near, size }: { readonly near: Condition; readonly size: number },
  ): Promise<Compared> {
    const passes = passing(filter);
    const rows = await on.query(
      `WITH near AS MATERIALIZED (${near.sql}), scored AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, n.apart, ${scoreSql(extension, model)} AS score
         FROM (SELECT * FROM near ORDER BY apart LIMIT ${size}) n JOIN carrel.kb_vectors v ON v.key = n.key),
       best AS MATERIALIZED (SELECT * FROM scored ORDER BY score DESC, key LIMIT ${limit * bestPerOwner})
       SELECT b.key, b.owner, b.start_at, b.end_at, b.score, NULL AS line, NULL AS keys, NULL AS apart
       FROM best b JOIN carrel.kb_passages o ON o.key = b.owner WHERE ${passes.sql}
       UNION ALL
       SELECT NULL, NULL, NULL, NULL, NULL, (SELECT ARRAY[count(*), avg(score), avg(apart), regr_slope(score, apart),
           sqrt(greatest(0, regr_syy(score, apart) - regr_slope(score, apart) * regr_sxy(score, apart)) / nullif(count(*), 0)),
           max(apart)]::float8[] FROM scored),
         (SELECT array_agg(key)::text FROM near), (SELECT array_agg(apart)::text FROM near)`,
      [...near.values, realArray(query), ...passes.values],
    );
    const [last = {}] = rows.splice(-1);
    const [count = 0, score = 0, apart = 0, slope = 0, deviation = 0, edge = 0] = numbersOf(last['line']);
    const best = rows.map(scoredVector).sort((a, b) => b.score - a.score || a.key - b.key);
    const found = [last['keys'] ?? '{}', last['apart'] ?? '{}'].map(String);
    return {
      best,
      line: { count, score, apart, slope, deviation, edge },
      near: { sql: 'SELECT * FROM unnest(?::bigint[], ?::float8[]) AS n (key, apart)', values: found },
    };
  }
}

/** What the first group of labels lets through is read, so it should be the one that lets through least. */
async function narrowestFirst(on: Statements, filter: PassageFilter): Promise<PassageFilter> {
  const { labels = [] } = filter;
  if (labels.length < 2) return filter;
  const groups = [];
  for (const group of labels) {
    const condition = passing({ labels: [group] });
    groups.push({ group, passing: await estimate(on, 'carrel.kb_passages', condition) });
  }
  return { ...filter, labels: groups.sort((a, b) => a.passing - b.passing).map(({ group }) => group) };
}

/** The passages themselves are asked again: what may be seen by whom must not depend on a copy of their labels. */
function passing(filter: PassageFilter): Condition {
  return passageCondition(filter) ?? { sql: 'TRUE', values: [] };
}

function isSettled(best: readonly ScoredVector[], line: Line, limit: number): boolean {
  const seen = new Set<number>();
  const last = best.find(({ owner }) => seen.add(owner).size === limit);
  return last !== undefined && expectedBeyond(line, last.score) <= missedMax * limit;
}

/**
 * How many with farther codes than those that were compared have a better score, if scores differ from the line as they do
 * among these (normally), and the number of vectors goes on growing with the distance as it does up to here (exponentially): the
 * integral of the one times the other.
 */
function expectedBeyond({ count, score, apart, slope, deviation, edge }: Line, better: number): number {
  if (slope >= 0 || deviation <= 0 || edge <= apart) return Number.POSITIVE_INFINITY;
  const gap = (better - score - slope * (edge - apart)) / deviation;
  const growth = deviation / -slope / (edge - apart);
  return count * (Math.exp(growth * (growth / 2 - gap)) * normalAbove(gap - growth) - normalAbove(gap));
}

/** The part of a normal distribution above this many deviations: Abramowitz and Stegun, 7.1.26. */
function normalAbove(deviations: number): number {
  const x = Math.abs(deviations) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592].reduce(
    (sum, factor) => t * (sum + factor),
    0,
  );
  const half = (series * Math.exp(-x * x)) / 2;
  return deviations >= 0 ? half : 1 - half;
}

function numbersOf(list: unknown): number[] {
  return (Array.isArray(list) ? list : []).map(Number);
}
