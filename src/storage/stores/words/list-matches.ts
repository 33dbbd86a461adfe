import { documentsOf } from '../../../words/ranking/bm25.ts';
import { type CandidatePlan, isConjunction, planCandidates } from '../../../words/ranking/candidates.ts';
import { leafKey, leavesOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { KeyFilter, ListedDocuments, Statements, WordIndex } from '../../dialect.ts';
import { type Condition, numberOf } from '../../rows.ts';
import type { KnownWords, LeafCounts } from './leaf-counts.ts';
import { firstByWeight, listedLeaves, listedMatches, weighedWordsOf } from './listed-matches.ts';
import { commonestOf, firstOfRarest, isWordList, readingCost } from './rarest-words.ts';
import { batchSize } from './term-batches.ts';

/** Candidates that are scored exactly, each of which is read. Behind them come the other matches, the newest first. */
export const poolMax = 200;

/** Of many matches, those that are tested first where no more have to pass than the pool holds: if a fifth does, they are enough. */
const testedFirst = 1000;

export interface ListingRequest {
  /** Nothing behind the pool is asked for. */
  readonly isInPool: boolean;
  readonly counts: boolean;
  /** See `FindRequest`. */
  readonly place: 'last' | undefined;
}

export interface ListedMatches extends ListedDocuments {
  /** Undefined if there may be more. */
  readonly total: number | undefined;
  /** The first by weight, where they are known already; the keys may then be only some of those that match. */
  readonly first?: readonly number[];
}

/** What passes, or at least as much of it as fills the pool, where the database tells which documents have each word. */
export async function listMatches(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  filter: KeyFilter | undefined,
  leaves: LeafCounts,
  { isInPool, counts: countsAll, place }: ListingRequest,
): Promise<ListedMatches | undefined> {
  const { listing } = on.dialect.words;
  const listable = listing && listedLeaves(query);
  if (listing === undefined || listable === undefined) return undefined;
  const known = await leaves.count(leavesOf(query));
  const { counts, statistics } = known;
  const whole = (keys: Float64Array) => ({ keys, total: keys.length });
  const isListed = listable.every((leaf) => leaves.lists.has(leafKey(leaf)));
  if (isConjunction(query) && !isListed && leavesOf(query).every(({ kind }) => kind !== 'near')) {
    // Documents that have all of the words weigh the same: which words a document has need not be known here.
    if (listable.every((leaf) => documentsOf(leaf, counts) > listing.max)) return undefined;
    // So the first by their weight are the first by their keys.
    const first = index.ties === 'key' && batchSize(statistics.averageLengths) >= poolMax ? poolMax : 0;
    const found = await listing.matching(on, index, { query, filter, first, place });
    return found && { ...found, total: found.keys.length };
  }
  if (!(await leaves.canList(listable, listing.max))) return undefined;
  const isIndexed = filter === leaves.filter;
  const rarest = isIndexed && isInPool ? await listRarest(on, index, query, leaves, known, countsAll) : undefined;
  if (rarest !== undefined) return rarest;
  if (!(await leaves.list(listable, listing.max))) return undefined;
  const matches = listedMatches(query, leaves.lists);
  if (filter === undefined || isIndexed || matches.length === 0) return whole(matches);
  if (isInPool && !countsAll && matches.length > 2 * testedFirst) {
    const heaviest = firstByWeight(
      matches,
      weighedWordsOf(allEssential(query, known), known),
      leaves.lists,
      testedFirst,
    );
    const first = Float64Array.from(heaviest).sort();
    const passing = await listing.passing(on, filter, first);
    if (passing.length >= poolMax) return { keys: passing, total: undefined };
  }
  return whole(await listing.passing(on, filter, matches));
}

function allEssential(query: WordQuery, { counts }: KnownWords): CandidatePlan {
  return planCandidates(leavesOf(query), (leaf) => documentsOf(leaf, counts), Number.POSITIVE_INFINITY);
}

/** Of a list of words, the documents that have one of the rarest, where these decide about all that is asked for. */
async function listRarest(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  leaves: LeafCounts,
  known: KnownWords,
  counts: boolean,
): Promise<ListedMatches | undefined> {
  const commonest = counts ? commonestOf(query, known, index.totalMax, leaves) : undefined;
  if (!isWordList(query) || (counts && commonest === undefined)) return undefined;
  const asked = { documents: index.totalMax, state: known.state, filter: leaves.filter };
  const isKnown = commonest && on.dialect.words.listing?.isKnownToFind(index, commonest.query, asked);
  const unlisted = leavesOf(query).filter((leaf) => !leaves.lists.has(leafKey(leaf)));
  const { documents } = known.statistics;
  const read = (leaf: WordLeaf) => readingCost(documentsOf(leaf, known.counts) * leaves.share, documents);
  const cost = unlisted.reduce((sum, leaf) => sum + read(leaf), 0);
  const rarest = await firstOfRarest(on, index, leaves, known, {
    plan: allEssential(query, known),
    limit: poolMax,
    cost,
    total: counts && !isKnown ? index.totalMax : undefined,
  });
  if (rarest === undefined || !counts) return rarest && { ...rarest, total: undefined };
  const isFull = rarest.keys.length >= index.totalMax || (await hasMany(on, index, query, known, leaves));
  return isFull ? { ...rarest, total: index.totalMax } : undefined;
}

/** Up to `totalMax`. */
export async function countMatches(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
  leaves: LeafCounts,
): Promise<number> {
  const isIndexed = narrowed === undefined || leaves.filter !== undefined;
  const known = await leaves.count(leavesOf(query));
  if (isIndexed && (await hasMany(on, index, query, known, leaves))) return index.totalMax;
  return countUpToMax(on, index, query, narrowed);
}

/** Whether so many documents have one of the commonest words that the others need not be looked up. */
async function hasMany(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  known: KnownWords,
  leaves: LeafCounts,
): Promise<boolean> {
  const { listing, narrow } = on.dialect.words;
  const { filter } = leaves;
  const commonest = commonestOf(query, known, index.totalMax, leaves);
  if (listing === undefined || commonest === undefined) return false;
  if (commonest.areEverywhere) {
    return (await countUpToMax(on, index, commonest.query, filter && narrow(filter))) === index.totalMax;
  }
  return listing.finds(on, index, commonest.query, { documents: index.totalMax, state: known.state, filter });
}

async function countUpToMax(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
): Promise<number> {
  const { sql, values } = on.dialect.words.matches(index, query, narrowed);
  const [row = {}] = await on.query(
    `SELECT count(*) AS total FROM (SELECT 1 ${sql} LIMIT ${index.totalMax}) AS matches`,
    values,
  );
  return numberOf(row, 'total');
}
