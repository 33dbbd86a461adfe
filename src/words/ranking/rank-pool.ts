import type { DocumentTerms } from '../document-terms.ts';
import type { TermScore } from './bm25.ts';
import type { Ranked, ScoredDocument } from './word-index.ts';

export interface Candidate {
  readonly key: number;
  /** Empty if keys break ties. */
  readonly id: string;
  readonly score: number;
  readonly covered: number;
}

/** Best first, ties by id and key. Both backends rank here, so that they agree. */
export function rankPool(pool: readonly Candidate[], scoreMax: number): Ranked[] {
  return pool
    .toSorted((a, b) => b.score - a.score || compareIds(a.id, b.id) || a.key - b.key)
    .map(({ key, score, covered }) => ({ key, score, coverage: coverageOf(covered, scoreMax) }));
}

/** How much of a query's words a document has, weighted by rarity: 1 with every word. */
export function coverageOf(covered: number, scoreMax: number): number {
  return Math.min(1, covered / Math.max(scoreMax, Number.EPSILON));
}

/** Each document's score by its words; documents with none are omitted. */
export function scorePool(
  documents: readonly { readonly key: number; readonly terms: DocumentTerms }[],
  termsOf: (terms: DocumentTerms) => TermScore[],
): ScoredDocument[] {
  return documents.flatMap(({ key, terms: held }) => {
    const terms = termsOf(held);
    if (terms.length === 0) return [];
    return [{ key, terms, score: terms.reduce((sum, { score }) => sum + score, 0) }];
  });
}

/** By code unit: a locale's collation may differ between machines. */
function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
