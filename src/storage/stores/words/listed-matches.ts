import { leafWeight } from '../../../words/ranking/bm25.ts';
import { type CandidatePlan, weighedWords } from '../../../words/ranking/candidates.ts';
import { leafKey, membersOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { KnownWords, WordLists } from './leaf-counts.ts';

/** The words by whose documents alone it can be told what a query finds. Undefined where more has to be known: phrases. */
export function listedLeaves(query: WordQuery): WordLeaf[] | undefined {
  if (query.kind === 'nothing') return [];
  if (query.kind === 'phrase') return undefined;
  if (query.kind !== 'except' && !('parts' in query)) return membersOf(query);
  const parts = query.kind === 'except' ? [query.keep, query.drop] : query.parts;
  const leaves: WordLeaf[] = [];
  for (const part of parts) {
    const own = listedLeaves(part);
    if (own === undefined) return undefined;
    leaves.push(...own);
  }
  return leaves;
}

/** What a query finds, by `leafKey`. All of its `listedLeaves` must be listed. */
export function listedMatches(query: WordQuery, lists: WordLists): Float64Array {
  switch (query.kind) {
    case 'nothing':
      return new Float64Array();
    case 'except':
      return among(listedMatches(query.keep, lists), listedMatches(query.drop, lists), false);
    case 'and':
      return query.parts
        .map((part) => listedMatches(part, lists))
        .sort((a, b) => a.length - b.length)
        .reduce((all, each) => among(all, each, true));
    case 'or':
      return unionOf(query.parts.map((part) => listedMatches(part, lists)));
    default:
      return unionOf(membersOf(query).map((leaf) => lists.get(leafKey(leaf)) ?? new Float64Array()));
  }
}

/** Those that are in the others, or those that are not. */
function among(keys: Float64Array, others: Float64Array, areWanted: boolean): Float64Array {
  let at = 0;
  return keys.filter((key) => {
    while (at < others.length && (others[at] ?? 0) < key) at += 1;
    return (others[at] === key) === areWanted;
  });
}

function unionOf(parts: readonly Float64Array[]): Float64Array {
  const [first = new Float64Array()] = parts;
  if (parts.length < 2) return first;
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  for (const part of parts) {
    all.set(part, length);
    length += part.length;
  }
  return all.sort().filter((key, place) => place === 0 || key !== all[place - 1]);
}

export interface WeighedWord {
  readonly leaf: WordLeaf;
  readonly weight: number;
}

/** The words of the rough order, as they are added up. */
export function weighedWordsOf(plan: CandidatePlan, { counts, statistics }: KnownWords): WeighedWord[] {
  return weighedWords(plan).map((leaf) => ({ leaf, weight: leafWeight(leaf, counts, statistics.documents) }));
}

/** The weights of what a document has. */
export function sumOf(key: number, weighed: readonly WeighedWord[], lists: WordLists): number {
  return weighed.reduce((sum, { leaf, weight }) => (listedMatches(leaf, lists).includes(key) ? sum + weight : sum), 0);
}

/** The first by the sum of the weights of what they have, the lower key before the higher. */
export function firstByWeight(
  keys: Float64Array,
  weighed: readonly WeighedWord[],
  lists: WordLists,
  limit: number,
): number[] {
  // Nothing tells them apart.
  if (lists.size === 0) return [...keys.subarray(0, limit)];
  const sums = new Float64Array(keys.length);
  for (const { leaf, weight } of weighed) {
    let place = 0;
    for (const key of listedMatches(leaf, lists)) {
      while (place < keys.length && (keys[place] ?? 0) < key) place += 1;
      if (keys[place] === key) sums[place] = (sums[place] ?? 0) + weight;
    }
  }
  const least = sumAt(sums, limit);
  const chosen: number[] = [];
  const alike: number[] = [];
  for (const [place, sum] of sums.entries()) {
    if (sum > least) chosen.push(place);
    else if (sum === least && alike.length < limit) alike.push(place);
  }
  chosen.sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b);
  return [...chosen, ...alike].slice(0, limit).map((place) => keys[place] ?? 0);
}

/** The sum at this rank, from 1. There are few different ones: of each document it is known which of a few words it has. */
function sumAt(sums: Float64Array, rank: number): number {
  const counts = new Map<number, number>();
  for (const sum of sums) counts.set(sum, (counts.get(sum) ?? 0) + 1);
  let passed = 0;
  let last = 0;
  for (const [sum, count] of [...counts].sort(([a], [b]) => b - a)) {
    last = sum;
    passed += count;
    if (passed >= rank) break;
  }
  return last;
}

/** The last ones, the highest first, without these. */
export function highestBut(
  keys: Float64Array,
  without: ReadonlySet<number>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): number[] {
  const found: number[] = [];
  let passed = 0;
  for (let place = keys.length - 1; place >= 0 && found.length < limit; place -= 1) {
    const key = keys[place] ?? 0;
    if (without.has(key)) continue;
    if (passed >= offset) found.push(key);
    passed += 1;
  }
  return found;
}
