import { leafKey, type WordLeaf, type WordQuery } from '../word-query.ts';
import type { IndexStatistics } from './bm25.ts';

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
 * So many documents the essential words are to be in, attempt by attempt; the last attempt has no optional words. Far more
 * than the pool that is scored, and few enough to be ordered roughly in milliseconds.
 */
export function essentialDocuments(query: WordQuery, leaves: readonly WordLeaf[]): readonly number[] {
  const every = Number.POSITIVE_INFINITY;
  // A document must have all of the words anyway.
  if (isConjunction(query)) return [every];
  // How few documents hold a phrase is not known before it is looked for, and then all have been found.
  if (leaves.every(({ kind }) => kind === 'phrase')) return [every];
  // What costs the most, putting together the documents of a beginning or of a phrase, is done anew at each attempt.
  return leaves.some(({ kind }) => kind !== 'term') ? [manyDocuments, every] : [4000, manyDocuments, every];
}

const manyDocuments = 32_000;

/** Each word that a database looks at for the rough order costs time on every candidate. */
const roughMax = 8;

/** The words by which a database that computes the rough order in SQL does so. */
export function weighedWords(plan: CandidatePlan): readonly WordLeaf[] {
  return [...plan.essential, ...roughWords(plan)].slice(0, 2 * roughMax);
}

/** The optional words that take part in the rough order. */
export function roughWords({ essential, optional }: CandidatePlan): readonly WordLeaf[] {
  return optional.slice(0, Math.max(0, roughMax - essential.length));
}

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
 * more than its weight. A full pool is taken as it is where many documents were looked at, or where the query costs more
 * than a list, because all that could be missing are documents that hold nothing but the commonest words.
 */
export function isSettled(
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
  return (scores[settledRank - 1] ?? 0) >= bound;
}

/** A query that is nothing but alternatives may be asked for by some of them. */
export function isAlternatives(query: WordQuery): boolean {
  return query.kind === 'or' && query.parts.every(isLeaf);
}

function isConjunction(query: WordQuery): boolean {
  return query.kind === 'and' && query.parts.every(isLeaf);
}

function isLeaf(query: WordQuery): boolean {
  return 'term' in query || 'prefix' in query || 'terms' in query;
}

/** The counts of documents by word in one index, which hold until the index changes. */
export type CountCache = (index: string, statistics: IndexStatistics) => Map<string, number>;

export function createCountCache(): CountCache {
  const kept = new Map<string, { stamp: string; counts: Map<string, number> }>();
  return (index, { documents, averageLengths: { title, heading, body } }) => {
    const stamp = `${documents} ${title} ${heading} ${body}`;
    const known = kept.get(index);
    if (known?.stamp === stamp && known.counts.size <= countsMax) return known.counts;
    const counts = new Map<string, number>();
    kept.set(index, { stamp, counts });
    return counts;
  };
}

const countsMax = 10_000;
