import type { Operation, Statements } from '../../dialect.ts';
import { type Condition, numberOf, type Row } from '../../rows.ts';
import { findModel } from '../../vectors/models.ts';
import type { NearestRequest, ScoredVector, VectorCorpus } from '../../vectors/vector.ts';

/** What passes a filter: a condition on the vectors `v`, or a list of owners. Undefined: everything. */
export type Matching = Condition | ArrayLike<number> | undefined;

/** Vectors to find per wanted owner: a long text has several, and only the nearest counts. */
const vectorsPerOwner = 2;

/** Min vectors that the index must find. They are scored exactly, so more of them raise the recall. */
const foundMin = 100;

/**
 * A filter with at most this many matches per vector to find is compared in full. Through the index, reaching a vector costs
 * ten times as much as comparing one, and most do not pass.
 */
const comparedPerFound = 120;

/** `hnsw.ef_search` per vector to find, and pgvector's maximum. */
const consideredPerFound = 2.5;
const consideredMax = 1_000;

/**
 * `force_custom_plan`, because a generic plan assumes that every label is rare. `relaxed_order`, because `strict_order` loses a
 * tenth of what passes a filter.
 */
const settings = [
  'SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0',
  'SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.scan_mem_multiplier = 4',
].join('; ');

/** Finds the nearest vectors through pgvector's HNSW index, or by comparing all that pass a narrow filter. */
export function createVectorSearch<Filter>(
  corpus: VectorCorpus,
  extension: string,
  match: (on: Statements, filter: Filter) => Promise<Matching>,
): Operation<NearestRequest<Filter>, ScoredVector[]> {
  const vectors = `carrel.${corpus}_vectors v`;
  const product = `OPERATOR(${extension}.<#>)`;

  return async (on, { model, filter, allowed, query, limit }) => {
    const own = await findModel(on, { corpus, model });
    if (own === undefined || own.dimensions !== query.length) return [];
    on.dialect.vectors.ensureIndex(corpus, own);
    const matching = allowed ?? (filter && (await match(on, filter)));
    const first = Math.max(foundMin, limit * vectorsPerOwner);
    const isNarrow = matching !== undefined && (await countOf(on, matching)) <= comparedPerFound * first;
    for (let wanted = first; ; wanted *= 4) {
      const considered = Math.min(consideredMax, Math.round(consideredPerFound * wanted));
      await on.query(`${settings}; SET LOCAL hnsw.ef_search = ${considered}`);
      const search = { model: own.key, matching, query, limit: wanted };
      const found = await (isNarrow ? compareAll(on, search) : scanIndex(on, search));
      // Several vectors of the same long texts may have displaced others.
      if (found.length < wanted || ownersIn(found) >= limit) return found;
    }
  };

  /** pgvector ends a scan after 20,000 vectors. If that found too little, all that pass are compared. */
  async function scanIndex(on: Statements, search: Search): Promise<ScoredVector[]> {
    const { model, matching, query, limit } = search;
    // As a subselect: a long list in `ANY` may be searched linearly for each vector.
    const passes = conditionOf(matching, '(v.owner IN (SELECT unnest(?::bigint[]))) IS TRUE');
    const type = `${extension}.halfvec(${query.length})`;
    const rows = await on.query(
      `WITH near AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, v.vector FROM ${vectors} WHERE v.model = ${model} AND ${passes.sql}
         ORDER BY v.vector::${type} ${product} (SELECT ?::real[]::${type}) LIMIT ${limit})
       SELECT key, owner, start_at, end_at, ${scoreOf(query)} AS score FROM near v`,
      [...passes.values, arrayText(query), arrayText(query)],
    );
    if (rows.length < limit) return compareAll(on, search);
    return rows.map(scoredVector).sort((a, b) => b.score - a.score || a.key - b.key);
  }

  async function compareAll(on: Statements, { model, matching, query, limit }: Search): Promise<ScoredVector[]> {
    const passes = conditionOf(matching, 'v.owner = ANY (?::bigint[])');
    const rows = await on.query(
      `SELECT v.key, v.owner, v.start_at, v.end_at, ${scoreOf(query)} AS score FROM ${vectors}
       WHERE v.model = ${model} AND ${passes.sql} ORDER BY score DESC, v.key LIMIT ${limit}`,
      [arrayText(query), ...passes.values],
    );
    return rows.map(scoredVector);
  }

  /** pgvector returns the negative product. The subselect converts the query once, not per vector. */
  function scoreOf(query: Float32Array): string {
    const type = `${extension}.vector(${query.length})`;
    return `-(v.vector::${type} ${product} (SELECT ?::real[]::${type}))`;
  }

  /** The planner's estimate of a condition: counting takes as long as a search. */
  async function countOf(on: Statements, matching: NonNullable<Matching>): Promise<number> {
    if ('length' in matching) return matching.length;
    const sql = `EXPLAIN (FORMAT JSON) SELECT 1 FROM ${vectors} WHERE ${matching.sql}`;
    const [row = {}] = await on.query(sql, matching.values);
    const [plan] = row['QUERY PLAN'] as [{ readonly Plan: { readonly 'Plan Rows': number } }];
    return plan.Plan['Plan Rows'];
  }
}

interface Search {
  /** The key of the model. */
  readonly model: number;
  readonly matching: Matching;
  readonly query: Float32Array;
  /** Number of vectors. */
  readonly limit: number;
}

function conditionOf(matching: Matching, isOwner: string): Condition {
  if (matching === undefined) return { sql: 'TRUE', values: [] };
  return 'length' in matching ? { sql: isOwner, values: [arrayText(matching)] } : matching;
}

function scoredVector(row: Row): ScoredVector {
  return {
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    score: numberOf(row, 'score'),
  };
}

function ownersIn(found: readonly ScoredVector[]): number {
  return new Set(found.map(({ owner }) => owner)).size;
}

/** Numbers as PostgreSQL writes an array. The driver's own way takes several times as long. */
export function arrayText(numbers: ArrayLike<number>): string {
  return `{${Array.prototype.join.call(numbers, ',')}}`;
}
