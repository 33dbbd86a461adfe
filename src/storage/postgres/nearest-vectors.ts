import type { NearestRequest, ScoredVector, VectorCorpus } from '../contracts/vectors.ts';
import { type Connections, numberOf, type Row, type Statements } from './connections.ts';
import type { IndexedModel, NearestIndexes } from './nearest-index.ts';
import { bigintArray, realArray } from './real-array.ts';
import type { OwnerFilter } from './word-index.ts';

export interface NearestVectorsDeps<Filter> {
  readonly connections: Connections;
  /** The schema that pgvector is in. */
  readonly extension: string;
  readonly indexes: NearestIndexes;
  /** What a filter lets through: a condition on the owners `o`, or the owners themselves. */
  readonly narrow: (filter: Filter) => OwnerFilter | Promise<ArrayLike<number>>;
}

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

/** Where the vectors of the owners that may be found come from, with values numbered from `$2`. */
interface Source {
  readonly owners: number;
  readonly foundMin: number;
  /** Begins at the owners: for few. */
  readonly exact: string;
  /** Begins at the vectors, each of which is asked about: a join would lose the order of the index. For many. */
  readonly wide: string;
  readonly values: readonly unknown[];
}

/** Up to here all vectors of the owners are compared, which takes some 20 ms: an index would pass by most of what it finds. */
const exactOwnersMax = 10_000;

/**
 * Vectors that the index has to find, at least; they are then scored exactly. Behind a filter it needs more to be right:
 * recall@10 is 0.984 with 100, 0.988 with 200 and above 0.99 with 400 where the filter leaves out what is nearest.
 */
const foundMin = { open: 100, filtered: 400 };

/**
 * Behind a filter the nearest of all are looked at first, so many for each owner that is wanted: asking about each vector
 * on the way through the index takes five times as long. The answer must lie in the better half of what passes: the index
 * is less sure of the farther ones (recall@10 0.9875 with a filter for one in ten, where any ten that passed were taken).
 */
const aheadMin = 150;
const aheadPerOwner = 5;
const aheadPassing = 2;

/** The vectors of so few owners are compared without looking at the nearest of all, which takes as long. */
const fewOwners = 1_000;

/** Vectors that are looked at for each owner that is wanted: a long text has several, and only the nearest counts. */
const vectorsPerOwner = 2;

/**
 * The nearest vectors by pgvector's HNSW. The index is read until enough of what it gives passes the filter; `strict_order`
 * would drop a tenth of that (recall@10 0.93 where the filter is against the query), so it is read in the order in which
 * it comes and sorted by exact scores.
 */
export function createNearestVectors<Filter>(corpus: VectorCorpus, deps: NearestVectorsDeps<Filter>) {
  const { connections, extension, indexes } = deps;
  const vectors = `carrel.${corpus}_vectors`;
  const owners = corpus === 'context' ? 'carrel.context_entries' : 'carrel.kb_passages';
  const type = (name: 'vector' | 'halfvec', { dimensions }: IndexedModel) => `${extension}.${name}(${dimensions})`;
  const distance = `OPERATOR(${extension}.<#>)`;

  return async (
    { model, filter, allowed, ...request }: NearestRequest<Filter>,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ScoredVector[]> => {
    const narrowed = allowed ?? (filter === undefined ? undefined : await deps.narrow(filter));
    return connections.read(async (statements) => {
      const [row] = await statements.query(`SELECT key, dimensions FROM carrel.${corpus}_models WHERE name = $1`, [
        model,
      ]);
      if (row === undefined || row['dimensions'] === null) return [];
      const own: IndexedModel = { key: numberOf(row, 'key'), dimensions: numberOf(row, 'dimensions') };
      if (own.dimensions !== request.query.length) return [];
      indexes.ensure(own);
      if (narrowed !== undefined && (await countOwners(statements, narrowed, fewOwners + 1)) > fewOwners) {
        const ahead = await passing(statements, own, narrowed, request);
        if (ownersIn(ahead) >= aheadPassing * request.limit) return ahead;
        await statements.query(openSettings);
      }
      const source = await sourceOf(statements, narrowed, own);
      for (let wanted = Math.max(source.foundMin, request.limit * vectorsPerOwner); ; wanted *= 4) {
        const found = await search(statements, own, source, { ...request, limit: wanted });
        if (found.length < wanted || ownersIn(found) >= request.limit) return found;
      }
    }, options);
  };

  async function search(
    statements: Statements,
    model: IndexedModel,
    source: Source,
    request: Request,
  ): Promise<ScoredVector[]> {
    if (source.owners <= exactOwnersMax) {
      await statements.query(plainSettings);
      return exactly(statements, model, source.exact, source.values, request);
    }
    const found = await byIndex(statements, model, source, request);
    // The index is not read to its end; where little passes the filter, that may be too early.
    if (found.length >= request.limit) return found;
    await statements.query(openSettings);
    return exactly(statements, model, source.wide, source.values, request);
  }

  /** Of the nearest vectors, those whose owners pass. Enough, unless the filter is narrow or against the query. */
  function passing(
    statements: Statements,
    model: IndexedModel,
    narrowed: OwnerFilter | ArrayLike<number>,
    { query, limit }: Request,
  ): Promise<ScoredVector[]> {
    const [condition, values] =
      'length' in narrowed
        ? ['v.owner = ANY ($2::bigint[])', [bigintArray(narrowed)]]
        : [
            `(SELECT true FROM ${owners} o WHERE o.key = v.owner AND ${shifted(narrowed.sql ?? 'TRUE')}) IS TRUE`,
            narrowed.values,
          ];
    const source = { wide: `FROM ${vectors} v WHERE v.model = ${model.key}`, condition, values };
    return byIndex(statements, model, source, { query, limit: Math.max(aheadMin, limit * aheadPerOwner) });
  }

  /** What passes the condition of those that the index gives. */
  async function byIndex(
    statements: Statements,
    model: IndexedModel,
    { wide, condition = 'TRUE', values }: Pick<Source, 'wide' | 'values'> & { condition?: string },
    { query, limit }: Request,
  ): Promise<ScoredVector[]> {
    await statements.query(`${indexSettings}; SET LOCAL hnsw.ef_search = ${Math.min(1000, Math.round(limit * 2.5))}`);
    const rows = await statements.query(
      `WITH near AS MATERIALIZED (
         SELECT v.key, v.owner, v.start_at, v.end_at, v.vector ${wide}
         ORDER BY v.vector::${type('halfvec', model)} ${distance} $1::real[]::${type('halfvec', model)} LIMIT ${limit})
       SELECT key, owner, start_at, end_at, ${scoreOf('v', model)} AS score FROM near v WHERE ${condition}`,
      [realArray(query), ...values],
    );
    return rows.map(scoredVector).sort((a, b) => b.score - a.score || a.key - b.key);
  }

  async function exactly(
    statements: Statements,
    model: IndexedModel,
    from: string,
    values: readonly unknown[],
    { query, limit }: Request,
  ): Promise<ScoredVector[]> {
    const rows = await statements.query(
      `SELECT v.key, v.owner, v.start_at, v.end_at, ${scoreOf('v', model)} AS score ${from}
       ORDER BY score DESC, v.key LIMIT ${limit}`,
      [realArray(query), ...values],
    );
    return rows.map(scoredVector);
  }

  /** pgvector gives the negative of the product. */
  function scoreOf(table: string, model: IndexedModel): string {
    return `-(${table}.vector::${type('vector', model)} ${distance} $1::real[]::${type('vector', model)})`;
  }

  /** Those that pass, as far as `max`. */
  async function countOwners(
    statements: Statements,
    narrowed: OwnerFilter | ArrayLike<number>,
    max: number,
  ): Promise<number> {
    if ('length' in narrowed) return narrowed.length;
    const { sql = 'TRUE', values } = narrowed;
    const [row = {}] = await statements.query(
      `SELECT count(*) AS total FROM (SELECT 1 FROM ${owners} o WHERE ${sql} LIMIT ${max}) AS counted`,
      values,
    );
    return numberOf(row, 'total');
  }

  async function sourceOf(
    statements: Statements,
    narrowed: OwnerFilter | ArrayLike<number> | undefined,
    { key }: IndexedModel,
  ): Promise<Source> {
    const all = `FROM ${vectors} v WHERE v.model = ${key}`;
    // OFFSET keeps a subselect as it is written: its vectors are looked up for each owner.
    const ofOwner = `(SELECT * FROM ${vectors} WHERE owner = a.owner AND model = ${key} OFFSET 0) v`;
    if (narrowed === undefined) {
      return { owners: Number.POSITIVE_INFINITY, foundMin: foundMin.open, exact: all, wide: all, values: [] };
    }
    if ('length' in narrowed) {
      return {
        owners: narrowed.length,
        foundMin: foundMin.filtered,
        exact: `FROM unnest($2::bigint[]) AS a (owner) CROSS JOIN LATERAL ${ofOwner}`,
        wide: `${all} AND (v.owner IN (SELECT unnest($2::bigint[]))) IS TRUE`,
        values: [bigintArray(narrowed)],
      };
    }
    const sql = shifted(narrowed.sql ?? 'TRUE');
    return {
      owners: await countOwners(statements, narrowed, exactOwnersMax + 1),
      foundMin: foundMin.filtered,
      exact: `FROM (SELECT o.key AS owner FROM ${owners} o WHERE ${sql} OFFSET 0) a CROSS JOIN LATERAL ${ofOwner}`,
      wide: `${all} AND (SELECT true FROM ${owners} o WHERE o.key = v.owner AND ${sql}) IS TRUE`,
      values: narrowed.values,
    };
  }
}

function ownersIn(found: readonly ScoredVector[]): number {
  return new Set(found.map(({ owner }) => owner)).size;
}

/** The first value is the query. */
function shifted(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + 1}`);
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
