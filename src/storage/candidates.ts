import type { IndexStatistics } from '../words/bm25.ts';
import { leafKey, type WordLeaf, type WordQuery } from '../words/word-query.ts';

/**
 * How candidates are looked for. A word that is in most documents costs a database the most and tells the least, so only
 * documents with one of the rarer words, the essential ones, are candidates; the others take part in the order.
 */
export interface CandidatePlan {
  readonly essential: readonly WordLeaf[];
  /** Rarest first. */
  readonly optional: readonly WordLeaf[];
}

/**
 * So many documents the essential words are to be in, attempt by attempt. Far more than the pool that is scored, and few
 * enough to be ordered roughly in milliseconds.
 */
export const essentialDocuments = [4000, 32_000, Number.POSITIVE_INFINITY] as const;

/** How many of the optional words the databases look at for the rough order. */
export const optionalMax = 8;

/** The exact order up to here decides whether a pool is good enough. The same for every page, so that pages fit together. */
const settledRank = 50;

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
 * Whether a document that was no candidate could belong to the best: it holds optional words only, and no word is worth
 * more than its weight. A full pool from many documents is taken as it is, because all that could be missing are
 * documents that hold nothing but the commonest words.
 */
export function isSettled(
  attempt: number,
  plan: CandidatePlan,
  scores: readonly number[],
  poolMax: number,
  weightOf: (leaf: WordLeaf) => number,
): boolean {
  if (plan.optional.length === 0) return true;
  if (attempt > 0 && scores.length >= poolMax) return true;
  const bound = plan.optional.reduce((sum, leaf) => sum + weightOf(leaf), 0);
  return (scores[settledRank - 1] ?? 0) >= bound;
}

/** A query that is nothing but alternatives may be asked for by some of them. */
export function isAlternatives(query: WordQuery): boolean {
  return query.kind === 'or' && query.parts.every((part) => 'term' in part || 'prefix' in part || 'terms' in part);
}

/** Counts of documents by word, which hold until the index changes. */
export function createCountCache(): {
  for(statistics: IndexStatistics): Map<string, number>;
} {
  let stamp = '';
  let counts = new Map<string, number>();
  return {
    for(statistics) {
      const { title, heading, body } = statistics.averageLengths;
      const now = `${statistics.documents} ${title} ${heading} ${body}`;
      if (now !== stamp || counts.size > 10_000) counts = new Map();
      stamp = now;
      return counts;
    },
  };
}
