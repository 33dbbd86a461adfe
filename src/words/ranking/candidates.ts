import { leafKey, type WordLeaf, type WordQuery } from '../word-query.ts';
import type { IndexStatistics } from './bm25.ts';

/**
 * The words of a query. Only documents with an essential word become candidates. Common words are optional, because they are
 * the slowest to look up and say the least.
 */
export interface CandidatePlan {
  readonly essential: readonly WordLeaf[];
  /** Rarest first. */
  readonly optional: readonly WordLeaf[];
}

/**
 * Returns a number per attempt at a search. Words become essential, rarest first, until they occur in at least that many documents.
 * In the last attempt, all words are essential.
 */
export function essentialDocumentsMin(query: WordQuery, leaves: readonly WordLeaf[]): readonly number[] {
  const every = Number.POSITIVE_INFINITY;
  // A match must have all words, so trying fewer words first does not help.
  if (isConjunction(query)) return [every];
  // Counting the documents with a phrase already means finding them all.
  if (leaves.every(({ kind }) => kind === 'phrase')) return [every];
  // Fewer attempts for prefixes and phrases: each attempt repeats the slow part, collecting their documents.
  return leaves.some(({ kind }) => kind !== 'term') ? [manyDocuments, every] : [someDocuments, manyDocuments, every];
}

const someDocuments = 4_000;
const manyDocuments = 32_000;

/** Max words in the database's rough ranking, because each takes time per candidate. */
const roughMax = 8;

/** Returns the optional words that take part in the rough ranking, in addition to the essential ones. */
export function roughlyRankedWords({ essential, optional }: CandidatePlan): readonly WordLeaf[] {
  return optional.slice(0, Math.max(0, roughMax - essential.length));
}

/** The rank whose score decides whether a pool of candidates is good enough. The same for every page, so that pages agree. */
const decidingRank = 50;

export function planCandidates(
  leaves: readonly WordLeaf[],
  documentsWith: (leaf: WordLeaf) => number,
  documentsMin: number,
): CandidatePlan {
  const byRarity = leaves
    .map((leaf) => ({ leaf, documents: documentsWith(leaf), key: leafKey(leaf) }))
    .sort((a, b) => a.documents - b.documents || (a.key < b.key ? -1 : 1));
  let sum = 0;
  let count = 0;
  for (const { documents } of byRarity) {
    if (sum >= documentsMin) break;
    sum += documents;
    count += 1;
  }
  const ordered = byRarity.map(({ leaf }) => leaf);
  return { essential: ordered.slice(0, count), optional: ordered.slice(count) };
}

/**
 * True if no document outside the pool can rank among the best: such documents have optional words only. A full pool is also
 * accepted if many documents were examined, or if the query is more than a list of alternatives.
 */
export function poolIsFinal(
  documentsMin: number,
  query: WordQuery,
  plan: CandidatePlan,
  scores: readonly number[],
  poolMax: number,
  weightOf: (leaf: WordLeaf) => number,
): boolean {
  if (plan.optional.length === 0) return true;
  if (scores.length >= poolMax && (documentsMin >= manyDocuments || !isAlternatives(query))) return true;
  const bound = plan.optional.reduce((sum, leaf) => sum + weightOf(leaf), 0);
  return (scores[decidingRank - 1] ?? 0) >= bound;
}

/** True for a plain list of alternatives. A search may then start with some of them. */
export function isAlternatives(query: WordQuery): boolean {
  return query.kind === 'or' && query.parts.every(isLeaf);
}

/** True if every match contains all words of the query. */
export function isConjunction(query: WordQuery): boolean {
  return query.kind === 'and' ? query.parts.every(isLeaf) : isLeaf(query);
}

function isLeaf(query: WordQuery): boolean {
  return 'term' in query || 'prefix' in query || 'terms' in query;
}

/** Document counts per word of one index, valid until the index changes. */
export type CountCache = (index: string, statistics: IndexStatistics) => Map<string, number>;

export function createCountCache(): CountCache {
  const cache = new Map<string, { stamp: string; counts: Map<string, number> }>();
  return (index, statistics) => {
    const cached = cache.get(index);
    const { documents, averageLengths } = statistics;
    const { title, heading, body } = averageLengths;
    const stamp = `${documents} ${title} ${heading} ${body}`;
    if (cached?.stamp === stamp && cached.counts.size <= countsMax) return cached.counts;
    const counts = new Map<string, number>();
    cache.set(index, { stamp, counts });
    return counts;
  };
}

const countsMax = 10_000;
