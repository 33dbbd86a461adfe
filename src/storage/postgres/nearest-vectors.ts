import type { NearestRequest, ScoredVector, VectorCorpus } from '../contracts/vectors.ts';
import type { Operation, Statements } from '../dialect.ts';
import type { Condition } from '../rows.ts';
import { findModel, ownersOf } from '../stores/vectors/models.ts';
import type { CodedSearch } from './coded-search.ts';
import { estimate } from './estimate.ts';
import { createLucks, type Luck } from './luck.ts';
import { bigintArray, realArray } from './real-array.ts';
import { type IndexedModel, ownersIn, scoredVector, scoreSql } from './scored-vectors.ts';

export interface NearestVectorsDeps<Filter> {
  /** The schema that pgvector is in. */
  readonly extension: string;
  readonly narrow: (on: Statements, filter: Filter) => Promise<Narrowed | undefined>;
  /** Where vectors have codes. */
  readonly coded?: CodedSearch<Filter>;
}

/** What a filter lets through: a condition on the owners `o`, or the owners themselves. */
type Narrowed = Condition | ArrayLike<number>;

/**
 * A table that grows fast has old statistics, by which reading all of it and sorting seems cheap. So the plans are written
 * into the statements, and what would lead away from them is made dear; a dear plan would then seem worth compiling.
 */
const plainSettings =
  'SET LOCAL jit = off; SET LOCAL enable_seqscan = off; SET LOCAL max_parallel_workers_per_gather = 0';
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

interface Among {
  readonly narrowed: Narrowed;
  /** About how many pass. */
  readonly owned: number;
  /** At how many vectors the index can look in the time in which all that pass are compared. */
  readonly lookedAtMeanwhile: number;
  readonly isCoded: boolean;
  /** Whether asking about one owner takes long. */
  readonly isLong: boolean;
  readonly luck: Luck | undefined;
}

/** Where the vectors of the owners that may be found come from. */
interface Source {
  /** About. */
  readonly owners: number;
  readonly foundMin: number;
  /** Begins at the owners: for few. */
  readonly exact: Condition;
  /** Begins at the vectors, each of which is asked about: a join would lose the order of the index. For many. */
  readonly wide: Condition;
}

/**
 * Up to here all vectors of the owners are compared, which takes 5 to 10 µs each: an index that is asked about each vector on the way
 * takes longer. To read all vectors and sort out the others was tried: with a tenth of 100,000 it takes 1.5 times the CPU.
 */
const exactOwnersMax = 50_000;

/**
 * Vectors that the index has to find, at least; they are then scored exactly. Behind a filter it needs more to be right:
 * recall@10 is 0.984 with 100, 0.988 with 200 and above 0.99 with 400 where the filter leaves out what is nearest.
 */
const foundMin = { open: 100, filtered: 400 };

/**
 * Behind a filter the nearest of all are looked at first, and more of them the fewer pass: asking about each vector on the
 * way through the index takes five times as long. The answer must lie in the better part of what passes: the index is less
 * sure of the farther ones. So it looks at more than it gives. Of 100,000, recall@10 with a filter for one in ten is 0.990 where it
 * looks at 200, 0.992 at 300 and 0.995 at 500.
 */
const aheadPassing = 1.5;
const lookedAtMargin = 1.25;

/**
 * Where fewer pass than by chance, it is tried once more with so many times as many, if other ways take long enough: it may fail
 * again.
 */
const aheadTimes = [1, 2.5];
const againMin = 2;

/** Of what is given, so many pass by chance all the same: three deviations below the mean there are still enough. */
function givenFor(limit: number, perPassing: number): number {
  const enough = aheadPassing * limit;
  return perPassing * (enough + 3 * Math.sqrt(enough));
}

/** The most that pgvector looks at. */
const lookedAtMax = 1000;

function lookedAtFor(limit: number): number {
  return limit * 2.5;
}

/** It may be read on to here. */
const givenMax = 2 * lookedAtMax;

/**
 * In the time in which the index looks at one vector, so many can be compared. Up to a number all are compared in any case: the
 * fewer pass, the farther apart they are, and the less sure is the index (recall@10 0.965 with a twentieth of 100,000).
 */
const comparedPerLookedAt = 8;
const comparedMin = 8_000;

/**
 * Up to the first number codes are compared in any case if fewer than one in so many passes: the index has a recall@10 of 0.97
 * then. So they are up to the next for a long list. For fewer owners than the last, comparing their vectors takes no longer.
 */
const codesSure = { owners: 60_000, oneIn: 15, ofLists: 200_000 };
const codesMin = 500;

/** Vectors that are looked at for each owner that is wanted: a long text has several, and only the nearest counts. */
const vectorsPerOwner = 2;

/**
 * The nearest vectors by pgvector's HNSW. The index is read until enough of what it gives passes the filter; `strict_order`
 * would drop a tenth of that (recall@10 0.93 where the filter is against the query), so it is read in the order in which
 * it comes and sorted by exact scores.
 */
export function createNearestVectors<Filter>(
  corpus: VectorCorpus,
  { extension, narrow, coded }: NearestVectorsDeps<Filter>,
): Operation<NearestRequest<Filter>, ScoredVector[]> {
  const luckOf = createLucks();
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
    const owned = narrowed === undefined ? Number.POSITIVE_INFINITY : await countOf(on, narrowed);
    const isCoded = narrowed !== undefined && allowed === undefined && (await coded?.isReady(on, own.key)) === true;
    const isLong = filter !== undefined && coded?.isLong(filter) === true;
    const lookedAtMeanwhile =
      isCoded && coded !== undefined && filter !== undefined
        ? coded.lookedAtMeanwhile({ filter, owned, limit: request.limit })
        : owned / comparedPerLookedAt;
    const luck = isCoded ? luckOf([filter, request.limit]) : undefined;
    const among = narrowed && { narrowed, owned, lookedAtMeanwhile, isCoded, isLong, luck };
    const ahead = among && (await searchAhead(on, indexed, among, request));
    if (ahead !== undefined) return ahead;
    if (isCoded && filter !== undefined && owned > codesMin) {
      const set = on.query(`${openSettings}; ${plainSettings}`);
      const [found = []] = await Promise.all([coded?.search(on, indexed, { filter, owned, ...request }), set]);
      return found;
    }
    const source = sourceOf(narrowed, owned, indexed);
    return enough(request.limit, Math.max(source.foundMin, request.limit * vectorsPerOwner), (limit) =>
      search(on, indexed, source, { ...request, limit }),
    );
  };

  async function search(
    on: Statements,
    model: IndexedModel,
    source: Source,
    request: Request,
  ): Promise<ScoredVector[]> {
    if (source.owners <= exactOwnersMax) {
      await on.query(`${openSettings}; ${plainSettings}`);
      return exactly(on, model, source.exact, request);
    }
    const found = await byIndex(on, model, source.wide, { sql: 'TRUE', values: [] }, request);
    // The index is not read to its end; where little passes the filter, that may be too early.
    if (found.length >= request.limit) return found;
    await on.query(openSettings);
    return exactly(on, model, source.wide, request);
  }

  /** Undefined where too few pass, or other ways are cheaper: the filter is narrow or against the query. */
  async function searchAhead(
    on: Statements,
    model: IndexedModel,
    among: Among,
    request: Request,
  ): Promise<ScoredVector[] | undefined> {
    if (among.luck?.isHopeless()) return undefined;
    for (const times of aheadTimes) {
      const found = await passing(on, model, { ...among, times }, request);
      if (found === undefined) return undefined;
      const isEnough = ownersIn(found) >= aheadPassing * request.limit;
      among.luck?.had(isEnough);
      if (isEnough) return found;
      if (found.length === 0) return undefined;
    }
    return undefined;
  }

  /** Of the nearest vectors, those whose owners pass. Undefined where other ways are cheaper. */
  async function passing(
    on: Statements,
    model: IndexedModel,
    { narrowed, owned, lookedAtMeanwhile, isCoded, isLong, times }: Among & { readonly times: number },
    { query, limit }: Request,
  ): Promise<ScoredVector[] | undefined> {
    if (owned <= comparedMin) return undefined;
    const all = await estimate(on, owners, { sql: 'TRUE', values: [] });
    const open = Math.max(foundMin.open, limit * vectorsPerOwner);
    const given = Math.max(open, givenFor(limit, Math.max(1, all / owned))) * times;
    const lookedAt = Math.max(lookedAtFor(open), given) * lookedAtMargin;
    const isUnsure = owned <= codesSure.owners && all >= owned * codesSure.oneIn;
    const isDear = isLong && owned <= codesSure.ofLists;
    if (
      given > givenMax ||
      lookedAtMeanwhile <= lookedAt * (times > 1 ? againMin : 1) ||
      (isCoded && (isUnsure || isDear))
    )
      return undefined;
    const passes: Condition =
      'length' in narrowed
        ? { sql: 'v.owner = ANY (?::bigint[])', values: [bigintArray(narrowed)] }
        : ofOwners(narrowed);
    return byIndex(on, model, allOf(model), passes, { query, limit: Math.ceil(given) }, lookedAt);
  }

  function countOf(on: Statements, narrowed: Narrowed): number | Promise<number> {
    return 'length' in narrowed ? narrowed.length : estimate(on, owners, narrowed);
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

  function scoreOf(model: IndexedModel): string {
    return scoreSql(extension, model);
  }

  function allOf({ key }: IndexedModel): Condition {
    return { sql: `FROM ${vectors} v WHERE v.model = ${key}`, values: [] };
  }

  function ofOwners({ sql, values }: Condition): Condition {
    return { sql: `(SELECT true FROM ${owners} o WHERE o.key = v.owner AND ${sql}) IS TRUE`, values };
  }

  function sourceOf(narrowed: Narrowed | undefined, owned: number, model: IndexedModel): Source {
    const all = allOf(model);
    if (narrowed === undefined) return { owners: owned, foundMin: foundMin.open, exact: all, wide: all };
    // OFFSET keeps a subselect as it is written: its vectors are looked up for each owner.
    const ofOwner = `(SELECT * FROM ${vectors} WHERE owner = a.owner AND model = ${model.key} OFFSET 0) v`;
    const from = (list: string, { sql, values }: Condition): Source => ({
      ...{ owners: owned, foundMin: foundMin.filtered },
      exact: { sql: `FROM ${list} CROSS JOIN LATERAL ${ofOwner}`, values },
      wide: { sql: `${all.sql} AND ${sql}`, values },
    });
    if ('length' in narrowed) {
      const sql = '(v.owner IN (SELECT unnest(?::bigint[]))) IS TRUE';
      return from('unnest(?::bigint[]) AS a (owner)', { sql, values: [bigintArray(narrowed)] });
    }
    return from(`(SELECT o.key AS owner FROM ${owners} o WHERE ${narrowed.sql} OFFSET 0) a`, ofOwners(narrowed));
  }
}

/** More and more, where so many are of the same owners that there are too few of these. */
async function enough(
  limit: number,
  first: number,
  find: (limit: number) => Promise<ScoredVector[]>,
): Promise<ScoredVector[]> {
  for (let wanted = first; ; wanted *= 4) {
    const found = await find(wanted);
    if (found.length < wanted || ownersIn(found) >= limit) return found;
  }
}
