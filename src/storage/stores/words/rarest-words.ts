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
  /** Rows that would be read otherwise. */
  readonly rows: number;
  /** Where it must be known that there are so many matches, which takes as many rows if those that are listed are fewer. */
  readonly total?: number | undefined;
}

export interface RarestDocuments {
  readonly first: readonly number[];
  /** All that have one of the rarest words, ascending. */
  readonly keys: Float64Array;
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
  const rarest = rarestOf(plan.essential, sharesOf(weighed, known), known.statistics.documents, asked);
  if (listing === undefined || rarest === undefined) return undefined;
  const isRarest = new Set(rarest.map(leafKey));
  const others = weighed.filter(({ leaf }) => !isRarest.has(leafKey(leaf)));
  const query = anyOf(rarest);
  const both = others.map(({ leaf }) => allOf([query, leaf]));
  const [isListed, held] = await Promise.all([leaves.list(rarest, listing.max), listing.holding(on, index, both)]);
  if (!isListed || held === undefined) return undefined;
  const lists = new Map(leaves.lists);
  for (const [place, { leaf }] of others.entries()) {
    const keys = held[place];
    if (keys === undefined) return undefined;
    lists.set(leafKey(leaf), keys);
  }
  const keys = listedMatches(query, lists);
  const first = firstByWeight(keys, weighed, lists, asked.limit);
  const last = first.length < asked.limit ? 0 : sumOf(first.at(-1) ?? 0, weighed, lists);
  return last > weightOf(others) * rounding ? { first, keys } : undefined;
}

/** Sums are compared that were added up in another order. */
const rounding = 1 + 1e-9;

/** How many times as many as are wanted should be found: shares are estimates, and words not independent of each other. */
const spare = { first: 1.5, total: 1.1 };

/** As many rows as a statement more costs. */
const statementRows = 1000;

/** Of which all combinations are gone through. */
const combinedMax = 10;

/** The fewest of the essential words that are likely to decide. */
function rarestOf(
  essential: readonly WordLeaf[],
  shares: ReadonlyMap<string, SharedWord>,
  documents: number,
  { limit, rows, total = 0 }: Omit<RarestRequest, 'plan'>,
): WordLeaf[] | undefined {
  const others = new Map(shares);
  const rarest: SharedWord[] = [];
  for (const leaf of essential.slice(0, combinedMax)) {
    const word = others.get(leafKey(leaf));
    if (word === undefined) return undefined;
    rarest.push(word);
    others.delete(leafKey(leaf));
    if (documents * shareAbove(rarest, weightOf([...others.values()])) < limit * spare.first) continue;
    const listed = documents * shareOf(rarest);
    const looked = listed * (1 + shareOf([...others.values()])) + (listed < total * spare.total ? total : 0);
    return looked + statementRows < rows && others.size > 0 ? rarest.map((each) => each.leaf) : undefined;
  }
  return undefined;
}

interface SharedWord extends WeighedWord {
  /** Of documents that have it, as far as is known. */
  readonly share: number;
}

function sharesOf(weighed: readonly WeighedWord[], known: KnownWords): ReadonlyMap<string, SharedWord> {
  return new Map(weighed.map((each) => [leafKey(each.leaf), { ...each, share: knownShare(each.leaf, known) }]));
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

function shareOf(words: readonly SharedWord[]): number {
  return words.reduce((sum, { share }) => sum + share, 0);
}

function weightOf(words: readonly WeighedWord[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0);
}

/** Whether a query is a list of single words. */
export function isWordList(query: WordQuery): boolean {
  return isAlternatives(query) && leavesOf(query).every(({ kind }) => kind === 'term');
}

/** The fewest of the words of a list, the commonest, that so many documents are likely to have. Undefined if all have fewer. */
export function commonestOf(query: WordQuery, known: KnownWords, wanted: number): WordQuery | undefined {
  if (!isWordList(query)) return undefined;
  const byShare = leavesOf(query)
    .map((leaf) => ({ leaf, share: knownShare(leaf, known) }))
    .sort((a, b) => b.share - a.share);
  let without = 1;
  for (const [place, { share }] of byShare.entries()) {
    without *= 1 - share;
    if (known.statistics.documents * (1 - without) < wanted * spare.total) continue;
    return anyOf(byShare.slice(0, place + 1).map(({ leaf }) => leaf));
  }
  return undefined;
}
