import type { Operation, Statements } from '../../dialect.ts';
import { numberOf, type Row, type SqlFragment } from '../../rows.ts';
import { findModel } from '../../vectors/models.ts';
import type { NearestRequest, ScoredVector, VectorCorpus } from '../../vectors/vector.ts';

/** A filter: a condition on the vectors `v`, or a list of owners. Undefined if all vectors pass. */
export type Matching = SqlFragment | ArrayLike<number> | undefined;

/** Vectors to find per requested owner. A long text has several vectors, of which only the nearest counts. */
const vectorsPerOwner = 2;

/** Min number of vectors that the index must find. They are scored exactly afterwards, so a higher number raises the recall. */
const foundMin = 100;

/** If a filter has at most this many matches per vector to find, all are compared, without the index. */
const comparedPerFound = 120;

/** Value of `hnsw.ef_search` per vector to find, and the maximum that pgvector allows. */
const consideredPerFound = 2.5;
const consideredMax = 1_000;

/**
 * Settings of a search. `force_custom_plan`: a generic plan would assume that every label is rare. `relaxed_order`: with
 * `strict_order`, a tenth of the vectors that pass a filter would not be found.
 */
const settings = [
  'SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0',
  'SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.scan_mem_multiplier = 4',
].join('; ');

/** Creates a search for the nearest vectors. It uses pgvector's HNSW index, or compares all vectors that pass a narrow filter. */
export function createVectorSearch<Filter>(
  corpus: VectorCorpus,
  extension: string,
  match: (db: Statements, filter: Filter) => Promise<Matching>,
): Operation<NearestRequest<Filter>, ScoredVector[]> {
  const vectors = `carrel.${corpus}_vectors v`;
  const product = `OPERATOR(${extension}.<#>)`;

  return async (db, { model, filter, allowed, query, limit }) => {
    const stored = await findModel(db, { corpus, model });
    if (stored === undefined || stored.dimensions !== query.length) return [];
    db.dialect.vectors.ensureIndex(corpus, stored);
    const matching = allowed ?? (filter && (await match(db, filter)));
    const first = Math.max(foundMin, limit * vectorsPerOwner);
    const isNarrow = matching !== undefined && (await countOf(db, matching)) <= comparedPerFound * first;
    for (let count = first; ; count *= 4) {
      const considered = Math.min(consideredMax, Math.round(consideredPerFound * count));
      await db.query(`${settings}; SET LOCAL hnsw.ef_search = ${considered}`);
      const search = { model: stored.key, matching, query, limit: count };
      const nearest = await (isNarrow ? compareAll(db, search) : scanIndex(db, search));
      // Several vectors may belong to the same long text. If there are too few owners, search for more vectors.
      if (nearest.length < count || ownersIn(nearest) >= limit) return nearest;
    }
  };

  /** Searches the index. pgvector ends a scan after 20,000 vectors. If too few of them pass, all vectors that pass are compared. */
  async function scanIndex(db: Statements, search: Search): Promise<ScoredVector[]> {
    const { model, matching, query, limit } = search;
    // A subselect, because a long list in `ANY` may be searched linearly for each vector.
    const passes = conditionOf(matching, '(v.owner IN (SELECT unnest(?::bigint[]))) IS TRUE');
    const type = `${extension}.halfvec(${query.length})`;
    const rows = await db.query(
      `WITH near AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, v.vector FROM ${vectors} WHERE v.model = ${model} AND ${passes.sql}
         ORDER BY v.vector::${type} ${product} (SELECT ?::real[]::${type}) LIMIT ${limit})
       SELECT key, owner, start_at, end_at, ${scoreOf(query)} AS score FROM near v`,
      [...passes.values, arrayText(query), arrayText(query)],
    );
    if (rows.length < limit) return compareAll(db, search);
    return rows.map(scoredVector).sort((a, b) => b.score - a.score || a.key - b.key);
  }

  async function compareAll(db: Statements, { model, matching, query, limit }: Search): Promise<ScoredVector[]> {
    const passes = conditionOf(matching, 'v.owner = ANY (?::bigint[])');
    const rows = await db.query(
      `SELECT v.key, v.owner, v.start_at, v.end_at, ${scoreOf(query)} AS score FROM ${vectors}
       WHERE v.model = ${model} AND ${passes.sql} ORDER BY score DESC, v.key LIMIT ${limit}`,
      [arrayText(query), ...passes.values],
    );
    return rows.map(scoredVector);
  }

  /** Returns SQL for the score. pgvector returns the negative product. The subselect converts the query only once. */
  function scoreOf(query: Float32Array): string {
    const type = `${extension}.vector(${query.length})`;
    return `-(v.vector::${type} ${product} (SELECT ?::real[]::${type}))`;
  }

  /** Returns how many vectors pass. For a condition, this is the planner's estimate, because counting is slow. */
  async function countOf(db: Statements, matching: NonNullable<Matching>): Promise<number> {
    if ('length' in matching) return matching.length;
    const sql = `EXPLAIN (FORMAT JSON) SELECT 1 FROM ${vectors} WHERE ${matching.sql}`;
    const [row = {}] = await db.query(sql, matching.values);
    const [plan] = row['QUERY PLAN'] as [{ readonly Plan: { readonly 'Plan Rows': number } }];
    return plan.Plan['Plan Rows'];
  }
}

interface Search {
  /** Key of the model. */
  readonly model: number;
  readonly matching: Matching;
  readonly query: Float32Array;
  /** Max number of vectors. */
  readonly limit: number;
}

function conditionOf(matching: Matching, isOwner: string): SqlFragment {
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

function ownersIn(nearest: readonly ScoredVector[]): number {
  return new Set(nearest.map(({ owner }) => owner)).size;
}

/** Formats numbers as a PostgreSQL array. The driver's own conversion takes several times as long. */
export function arrayText(numbers: ArrayLike<number>): string {
  return `{${Array.prototype.join.call(numbers, ',')}}`;
}
