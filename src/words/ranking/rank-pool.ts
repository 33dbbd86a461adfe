import type { DocumentTerms } from '../document-terms.ts';
import type { TermScore } from './bm25.ts';
import type { Ranked, ScoredDocument } from './word-index.ts';

export interface Candidate {
  readonly key: number;
  /** The document's id, which breaks ties. Empty if its key does that. */
  readonly id: string;
  readonly score: number;
  readonly covered: number;
}

/** Ranks candidates, best first; ties by id, then by key. Used for both databases, so that they rank alike. */
export function rankPool(pool: readonly Candidate[], scoreMax: number): Ranked[] {
  return pool
    .toSorted((a, b) => b.score - a.score || compareIds(a.id, b.id) || a.key - b.key)
    .map(({ key, score, covered }) => ({ key, score, coverage: coverageOf(covered, scoreMax) }));
}

/** Returns the share of the query's words that a document has, weighted by rarity: 1 if it has all. */
export function coverageOf(covered: number, scoreMax: number): number {
  return Math.min(1, covered / Math.max(scoreMax, Number.EPSILON));
}

/** Scores documents by their words. Omits documents without any of the words. */
export function scorePool(
  documents: readonly { readonly key: number; readonly terms: DocumentTerms }[],
  termsOf: (terms: DocumentTerms) => TermScore[],
): ScoredDocument[] {
  return documents.flatMap(({ key, terms: stored }) => {
    const terms = termsOf(stored);
    if (terms.length === 0) return [];
    return [{ key, terms, score: terms.reduce((sum, { score }) => sum + score, 0) }];
  });
}

/** Compares by code unit: a locale's collation may differ between machines. */
function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
