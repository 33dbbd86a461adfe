import type { NearestRequest, ScoredVector, VectorCorpus } from '../contracts/vectors.ts';
import type { Operation, Statements } from '../dialect.ts';
import { type Condition, numberOf, type Row } from '../rows.ts';
import { findModel, ownersOf } from '../stores/vectors/models.ts';
import { bigintArray, realArray } from './real-array.ts';

export interface NearestVectorsDeps<Filter> {
  /** The schema that pgvector is in. */
  readonly extension: string;
  readonly narrow: (on: Statements, filter: Filter) => Promise<Narrowed | undefined>;
}

interface IndexedModel {
  readonly key: number;
  readonly dimensions: number;
}

/** What a filter lets through: a condition on the owners `o`, or the owners themselves. */
type Narrowed = Condition | ArrayLike<number>;

/**
 * A table that grows fast has old statistics, by which reading all of it and sorting seems cheap. So the plans are written
 * into the statements, and what would lead away from them is made dear; a dear plan would then seem worth compiling.
 */
const plainSettings = 'SET LOCAL jit = off; SET LOCAL enable_seqscan = off';
const indexSettings = [
  plainSettings,
  'SET LOCAL enable_sort = off',
  'SET LOCAL hnsw.iterative_scan = relaxed_order',
  'SET LOCAL hnsw.max_scan_tuples = 100000',
  'SET LOCAL hnsw.scan_mem_multiplier = 4',
].join('; ');

/** As they are without ours. */
const openSettings = 'SET LOCAL enable_sort = on; SET LOCAL enable_seqscan = on';

type Request = Pick<NearestRequest<never>, 'query' | 'limit'>;

/** Where the vectors of the owners that may be found come from. */
interface Source {
  readonly owners: number;
  readonly foundMin: number;
  /** Begins at the owners: for few. */
  readonly exact: Condition;
  /** Begins at the vectors, each of which is asked about: a join would lose the order of the index. For many. */
  readonly wide: Condition;
}

/** Up to here all vectors of the owners are compared, which takes some 20 ms: an index would pass by most of what it finds. */
const exactOwnersMax = 10_000;

/**
 * Vectors that the index has to find, at least; they are then scored exactly. Behind a filter it needs more to be right:
 * recall@10 is 0.984 with 100, 0.988 with 200 and above 0.99 with 400 where the filter leaves out what is nearest.
 */
const foundMin = { open: 100, filtered: 400 };

/**
 * Behind a filter the nearest of all are looked at first, and more of them the fewer pass: asking about each vector on the
 * way through the index takes five times as long. The answer must lie in the better half of what passes: the index is less
 * sure of the farther ones. So it looks at more than it gives: recall@10 with a filter for one in ten is 0.975 where it looks at 300,
 * 0.987 at 400 and 0.99 or more at 500.
 */
const aheadPassing = 2;
const aheadMargin = 1.5;
const lookedAtPerOwner = 5;

/** The most that pgvector looks at. */
const lookedAtMax = 1000;

function lookedAtFor(limit: number): number {
  return limit * 2.5;
}

/** The vectors of so few owners are compared without looking at the nearest of all, which takes as long. */
const fewOwners = 1_000;

/** Vectors that are looked at for each owner that is wanted: a long text has several, and only the nearest counts. */
const vectorsPerOwner = 2;

/**
 * The nearest vectors by pgvector's HNSW. The index is read until enough of what it gives passes the filter; `strict_order`
 * would drop a tenth of that (recall@10 0.93 where the filter is against the query), so it is read in the order in which
 * it comes and sorted by exact scores.
 */
export function createNearestVectors<Filter>(
  corpus: VectorCorpus,
  { extension, narrow }: NearestVectorsDeps<Filter>,
): Operation<NearestRequest<Filter>, ScoredVector[]> {
  const vectors = `carrel.${corpus}_vectors`;
  const owners = `carrel.${ownersOf[corpus]}`;
  const type = (name: 'vector' | 'halfvec', { dimensions }: IndexedModel) => `${extension}.${name}(${dimensions})`;
  const distance = `OPERATOR(${extension}.<#>)`;

  return async (on, { model, filter, allowed, ...request }) => {
    const own = await findModel(on, { corpus, model });
    if (own === undefined || own.dimensions !== request.query.length) return [];
    const indexed: IndexedModel = { key: own.key, dimensions: own.dimensions };
    on.dialect.vectors.ensureIndex(corpus, indexed);
    const narrowed = allowed ?? (filter === undefined ? undefined : await narrow(on, filter));
    if (narrowed !== undefined) {
      const ahead = await passing(on, indexed, narrowed, request);
      if (ownersIn(ahead) >= aheadPassing * request.limit) return ahead;
    }
    const source = await sourceOf(on, narrowed, indexed);
    for (let wanted = Math.max(source.foundMin, request.limit * vectorsPerOwner); ; wanted *= 4) {
      const found = await search(on, indexed, source, { ...request, limit: wanted });
      if (found.length < wanted || ownersIn(found) >= request.limit) return found;
    }
  };

  async function search(
    on: Statements,
    model: IndexedModel,
    source: Source,
    request: Request,
  ): Promise<ScoredVector[]> {
    if (source.owners <= exactOwnersMax) {
      await on.query(plainSettings);
      return exactly(on, model, source.exact, request);
    }
    const found = await byIndex(on, model, source.wide, { sql: 'TRUE', values: [] }, request);
    // The index is not read to its end; where little passes the filter, that may be too early.
    if (found.length >= request.limit) return found;
    await on.query(openSettings);
    return exactly(on, model, source.wide, request);
  }

  /** Of the nearest vectors, those whose owners pass. Enough, unless the filter is narrow or against the query. */
  async function passing(
    on: Statements,
    model: IndexedModel,
    narrowed: Narrowed,
    { query, limit }: Request,
  ): Promise<ScoredVector[]> {
    const owned = 'length' in narrowed ? narrowed.length : await estimate(on, narrowed);
    if (owned <= fewOwners) return [];
    const perPassing = Math.max(1, (await estimate(on, { sql: 'TRUE', values: [] })) / owned);
    const given = Math.max(foundMin.open, limit * vectorsPerOwner, limit * perPassing * aheadPassing * aheadMargin);
    if (given > lookedAtMax) return [];
    const lookedAt = Math.max(lookedAtFor(foundMin.open), limit * perPassing * lookedAtPerOwner);
    const passes: Condition =
      'length' in narrowed
        ? { sql: 'v.owner = ANY (?::bigint[])', values: [bigintArray(narrowed)] }
        : ofOwners(narrowed);
    const found = await byIndex(on, model, allOf(model), passes, { query, limit: Math.ceil(given) }, lookedAt);
    await on.query(openSettings);
    return found;
  }

  /** How many owners pass, by what the database knows of its tables: to count many of them takes as long as a search. */
  async function estimate(on: Statements, { sql, values }: Condition): Promise<number> {
    const [row = {}] = await on.query(`EXPLAIN (FORMAT JSON) SELECT 1 FROM ${owners} o WHERE ${sql}`, values);
    const [plan] = row['QUERY PLAN'] as [{ readonly Plan: { readonly 'Plan Rows': number } }];
    return plan.Plan['Plan Rows'];
  }

  /** What passes the condition of those that the index gives. */
  async function byIndex(
    on: Statements,
    model: IndexedModel,
    from: Condition,
    passes: Condition,
    { query, limit }: Request,
    lookedAt = lookedAtFor(limit),
  ): Promise<ScoredVector[]> {
    await on.query(`${indexSettings}; SET LOCAL hnsw.ef_search = ${Math.min(lookedAtMax, Math.round(lookedAt))}`);
    const wanted = realArray(query);
    const rows = await on.query(
      `WITH near AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, v.vector ${from.sql}
         ORDER BY v.vector::${type('halfvec', model)} ${distance} (SELECT ?::real[]::${type('halfvec', model)})
         LIMIT ${limit})
       SELECT key, owner, start_at, end_at, ${scoreOf(model)} AS score FROM near v WHERE ${passes.sql}`,
      [...from.values, wanted, wanted, ...passes.values],
    );
    return rows.map(scoredVector).sort((a, b) => b.score - a.score || a.key - b.key);
  }

  async function exactly(
    on: Statements,
    model: IndexedModel,
    from: Condition,
    { query, limit }: Request,
  ): Promise<ScoredVector[]> {
    const rows = await on.query(
      `SELECT v.key, v.owner, v.start_at, v.end_at, ${scoreOf(model)} AS score ${from.sql}
       ORDER BY score DESC, v.key LIMIT ${limit}`,
      [realArray(query), ...from.values],
    );
    return rows.map(scoredVector);
  }

  /** pgvector gives the negative of the product. A subselect is evaluated once, not for each vector. */
  function scoreOf(model: IndexedModel): string {
    return `-(v.vector::${type('vector', model)} ${distance} (SELECT ?::real[]::${type('vector', model)}))`;
  }

  function allOf({ key }: IndexedModel): Condition {
    return { sql: `FROM ${vectors} v WHERE v.model = ${key}`, values: [] };
  }

  function ofOwners({ sql, values }: Condition): Condition {
    return { sql: `(SELECT true FROM ${owners} o WHERE o.key = v.owner AND ${sql}) IS TRUE`, values };
  }

  /** Those that pass, as far as `max`. */
  async function countOwners(on: Statements, narrowed: Narrowed, max: number): Promise<number> {
    if ('length' in narrowed) return narrowed.length;
    const [row = {}] = await on.query(
      `SELECT count(*) AS total FROM (SELECT 1 FROM ${owners} o WHERE ${narrowed.sql} LIMIT ${max}) AS counted`,
      narrowed.values,
    );
    return numberOf(row, 'total');
  }

  async function sourceOf(on: Statements, narrowed: Narrowed | undefined, model: IndexedModel): Promise<Source> {
    const all = allOf(model);
    // OFFSET keeps a subselect as it is written: its vectors are looked up for each owner.
    const ofOwner = `(SELECT * FROM ${vectors} WHERE owner = a.owner AND model = ${model.key} OFFSET 0) v`;
    if (narrowed === undefined) {
      return { owners: Number.POSITIVE_INFINITY, foundMin: foundMin.open, exact: all, wide: all };
    }
    if ('length' in narrowed) {
      const values = [bigintArray(narrowed)];
      return {
        owners: narrowed.length,
        foundMin: foundMin.filtered,
        exact: { sql: `FROM unnest(?::bigint[]) AS a (owner) CROSS JOIN LATERAL ${ofOwner}`, values },
        wide: { sql: `${all.sql} AND (v.owner IN (SELECT unnest(?::bigint[]))) IS TRUE`, values },
      };
    }
    const { sql, values } = narrowed;
    const passes = ofOwners(narrowed);
    return {
      owners: await countOwners(on, narrowed, exactOwnersMax + 1),
      foundMin: foundMin.filtered,
      exact: {
        sql: `FROM (SELECT o.key AS owner FROM ${owners} o WHERE ${sql} OFFSET 0) a CROSS JOIN LATERAL ${ofOwner}`,
        values,
      },
      wide: { sql: `${all.sql} AND ${passes.sql}`, values },
    };
  }
}

function ownersIn(found: readonly ScoredVector[]): number {
  return new Set(found.map(({ owner }) => owner)).size;
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
