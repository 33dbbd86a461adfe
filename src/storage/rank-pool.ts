import type { DocumentTerms } from '../words/bm25.ts';

export interface Candidate {
  readonly key: number;
  readonly id: string;
  readonly terms: DocumentTerms;
}

export interface Ranked {
  readonly key: number;
  readonly score: number;
}

/** The best first, equals in the order of their ids. Both backends end here, so that they agree. */
export function rankPool(pool: readonly Candidate[], score: (terms: DocumentTerms) => number): Ranked[] {
  return pool
    .map(({ key, id, terms }) => ({ key, id, score: score(terms) }))
    .sort((a, b) => b.score - a.score || compareIds(a.id, b.id))
    .map(({ key, score: value }) => ({ key, score: value }));
}

/** By code unit. The order of a language would differ between machines. */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
