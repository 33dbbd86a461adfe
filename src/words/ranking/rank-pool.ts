import type { DocumentTerms, TermScore } from './bm25.ts';
import type { Ranked, WeighedDocument } from './word-index.ts';

export interface Candidate {
  readonly key: number;
  readonly id: string;
  readonly score: number;
}

/** The best first, ties by id. Both backends rank here, so that they agree. */
export function rankPool(pool: readonly Candidate[]): Ranked[] {
  return pool.toSorted((a, b) => b.score - a.score || compareIds(a.id, b.id)).map(({ key, score }) => ({ key, score }));
}

/** The score of each document by its words; documents with none of them are left out. */
export function weighPool(
  documents: readonly { readonly key: number; readonly terms: DocumentTerms }[],
  termsOf: (terms: DocumentTerms) => TermScore[],
): WeighedDocument[] {
  return documents.flatMap(({ key, terms: held }) => {
    const terms = termsOf(held);
    if (terms.length === 0) return [];
    return [{ key, terms, score: terms.reduce((sum, { score }) => sum + score, 0) }];
  });
}

/** By code unit. A locale's collation could differ between machines. */
function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
