import type { DocumentTerms, TermScore } from './bm25.ts';
import type { Ranked, WeighedDocument } from './word-index.ts';

export interface Candidate {
  readonly key: number;
  readonly id: string;
  readonly terms: DocumentTerms;
}

/** The best first, ties by id. Both backends rank here, so that they agree. */
export function rankPool(pool: readonly Candidate[], score: (terms: DocumentTerms) => number): Ranked[] {
  return pool
    .map(({ key, id, terms }) => ({ key, id, score: score(terms) }))
    .sort((a, b) => b.score - a.score || compareIds(a.id, b.id))
    .map(({ key, score: value }) => ({ key, score: value }));
}

/** The score of each document by its words; documents with none of them are left out. */
export function weighPool(
  documents: readonly Omit<Candidate, 'id'>[],
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
