import { documentsOf } from '../../../words/ranking/bm25.ts';
import { type CandidatePlan, isAlternatives } from '../../../words/ranking/candidates.ts';
import { allOf, anyOf, leafKey, leavesOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { Statements, WordIndex } from '../../dialect.ts';
import type { KnownWords, LeafCounts } from './leaf-counts.ts';
import { firstByWeight, listedMatches, sumOf, type WeighedWord, weighedWordsOf } from './listed-matches.ts';

export interface RarestRequest {
  /** Documents must have one of its essential words. */
  readonly plan: CandidatePlan;
  readonly limit: number;
  /** What it would cost otherwise. */
  readonly cost: number;
  /** Where it must be known that there are so many matches, for which so many are read if those that are listed are fewer. */
  readonly total?: number | undefined;
}

export interface RarestDocuments {
  readonly first: readonly number[];
  /** All that have one of the rarest words, ascending. */
  readonly keys: Float64Array;
  /** The weight of the first that is behind so many of them; no document scores more than its words weigh. */
  weightBehind(documents: number): number;
}

/**
 * The first by the weights of their words, where one of the rarest words is worth more than all of the common ones together:
 * then only documents with one of the rarest are listed. Which of them have a common word the index tells, without going
 * through all that have it. Undefined where the rarest words do not decide, or to look at all of them costs no more.
 */
export async function firstOfRarest(
  on: Statements,
  index: WordIndex,
  leaves: LeafCounts,
  known: KnownWords,
  { plan, ...asked }: RarestRequest,
): Promise<RarestDocuments | undefined> {
  const { listing } = on.dialect.words;
  const weighed = weighedWordsOf(plan, known);
  const all = { documents: known.statistics.documents, passing: leaves.share };
  const rarest = rarestOf(plan.essential, sharesOf(weighed, known, leaves), all, asked);
  if (listing === undefined || rarest === undefined) return undefined;
  // Only what passes is listed.
  const max = [listing.max / leaves.share, listedSumMax / leaves.share] as const;
  if (!(await leaves.canList(rarest, ...max))) return undefined;
  const isRarest = new Set(rarest.map(leafKey));
  const others = weighed.filter(({ leaf }) => !isRarest.has(leafKey(leaf)));
  const query = anyOf(rarest);
  const held = await listing.holding(
    on,
    index,
    others.map(({ leaf }) => allOf([query, leaf])),
    leaves.filter,
  );
  if (held === undefined || !(await leaves.list(rarest, ...max))) return undefined;
  const lists = new Map(leaves.lists);
  for (const [place, { leaf }] of others.entries()) {
    const keys = held[place];
    if (keys === undefined) return undefined;
    lists.set(leafKey(leaf), keys);
  }
  const keys = listedMatches(query, lists);
  const first = firstByWeight(keys, weighed, lists, asked.limit);
  const weightBehind = (documents: number) => {
    const key = first[documents];
    return key === undefined ? 0 : sumOf(key, weighed, lists);
  };
  // Documents with none of the rarest words have others at most.
  const isDecided =
    rarest.length === plan.essential.length || weightBehind(asked.limit - 1) > weightOf(others) * rounding;
  return isDecided ? { first, keys, weightBehind } : undefined;
}

/** Documents that are put together here, of all of the rarest words. */
const listedSumMax = 120_000;

/** Sums are compared that were added up in another order. */
const rounding = 1 + 1e-9;

/** How many times as many as are wanted should be found: shares are estimates, and words not independent of each other. */
const spare = { first: 1.5, total: 1.1 };

/** Costs are counted in pages that are read. */
const costs = { statement: 100, indexed: 0.05, tested: 0.15 };

/** What an entry of the index costs of what a row costs that is read in turn and tested. */
const entryShare = 0.2;

/** Of rows of words, about. */
const rowsPerPage = 5;

/** Rows of the words that are anywhere among those of all documents. Some are on the same page. */
export function readingCost(rows: number, documents: number): number {
  const pages = Math.max(1, documents / rowsPerPage);
  return pages * (1 - Math.exp(-rows / pages));
}

/** Rows in each of which several words are looked for. */
export function testingCost(rows: number, words: number, documents: number): number {
  return readingCost(rows, documents) + rows * words * costs.tested;
}

/** Of which all combinations are gone through. */
const combinedMax = 10;

interface Documents {
  readonly documents: number;
  /** The share of them that passes. */
  readonly passing: number;
}

/** The fewest of the essential words that are likely to decide. */
function rarestOf(
  essential: readonly WordLeaf[],
  shares: ReadonlyMap<string, SharedWord>,
  all: Documents,
  { limit, cost, total = 0 }: Omit<RarestRequest, 'plan'>,
): WordLeaf[] | undefined {
  const others = new Map(shares);
  const rarest: SharedWord[] = [];
  for (const leaf of essential.slice(0, combinedMax)) {
    const word = others.get(leafKey(leaf));
    if (word === undefined) return undefined;
    rarest.push(word);
    others.delete(leafKey(leaf));
    const isAll = rarest.length === essential.length;
    const wanted = (limit * spare.first) / (all.documents * all.passing);
    const isDeciding = () => shareAbove(rarest, weightOf([...others.values()])) >= wanted;
    if (!isAll && !isDeciding()) continue;
    const own = listingCost(rarest, [...others.values()], all, total);
    return own < cost ? rarest.map((each) => each.leaf) : undefined;
  }
  return undefined;
}

function listingCost(
  rarest: readonly SharedWord[],
  others: readonly SharedWord[],
  { documents, passing }: Documents,
  total: number,
): number {
  const share = rarest.reduce((sum, word) => sum + word.share, 0);
  const reading = (had: number) => readingCost(documents * passing * had, documents);
  let cost = costs.statement + documents * share * others.length * costs.indexed;
  for (const word of rarest) cost += word.isListed ? 0 : reading(word.share);
  for (const word of others) cost += reading(word.share * share);
  return cost + (documents * passing * share < total * spare.total ? readingCost(total, documents) : 0);
}

interface SharedWord extends WeighedWord {
  /** Of documents that have it, as far as is known. */
  readonly share: number;
  readonly isListed: boolean;
}

function sharesOf(
  weighed: readonly WeighedWord[],
  known: KnownWords,
  { lists }: LeafCounts,
): ReadonlyMap<string, SharedWord> {
  return new Map(
    weighed.map(({ leaf, weight }) => [
      leafKey(leaf),
      { leaf, weight, share: knownShare(leaf, known), isListed: lists.has(leafKey(leaf)) },
    ]),
  );
}

function knownShare(leaf: WordLeaf, { counts, statistics }: KnownWords): number {
  return Math.min(1, documentsOf(leaf, counts) / Math.max(1, statistics.documents));
}

/** The share of documents whose words weigh more than this, if words were independent of each other. */
function shareAbove([word, ...others]: readonly SharedWord[], weight: number): number {
  if (weight < 0) return 1;
  if (word === undefined) return 0;
  return word.share * shareAbove(others, weight - word.weight) + (1 - word.share) * shareAbove(others, weight);
}

function weightOf(words: readonly WeighedWord[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0);
}

/** Whether a query is a list of single words. */
export function isWordList(query: WordQuery): boolean {
  return isAlternatives(query) && leavesOf(query).every(({ kind }) => kind === 'term');
}

export interface CommonWords {
  readonly query: WordQuery;
  /** In so many documents that some of them are found sooner by reading one document after the other than by the index. */
  readonly areEverywhere: boolean;
}

/**
 * The fewest of the words of a list, the commonest, that so many of the documents that pass are likely to have. Undefined if all
 * have fewer.
 */
export function commonestOf(
  query: WordQuery,
  known: KnownWords,
  wanted: number,
  { share: passing }: Pick<LeafCounts, 'share'>,
): CommonWords | undefined {
  if (!isWordList(query)) return undefined;
  const { documents } = known.statistics;
  const byShare = leavesOf(query)
    .map((leaf) => ({ leaf, share: knownShare(leaf, known) }))
    .sort((a, b) => b.share - a.share);
  let without = 1;
  for (const [place, { share }] of byShare.entries()) {
    without *= 1 - share;
    const found = documents * (1 - without);
    if (found * passing < wanted * spare.total) continue;
    const words = byShare.slice(0, place + 1).map(({ leaf }) => leaf);
    return { query: anyOf(words), areEverywhere: found * found * passing * entryShare > wanted * documents };
  }
  return undefined;
}
