import type { ScoredVector } from '../contracts/vectors.ts';
import { numberOf, type Row } from '../rows.ts';

export interface IndexedModel {
  readonly key: number;
  readonly dimensions: number;
}

/** Of the vectors `v`, with the query as a value. pgvector gives the negative of the product. A subselect is evaluated once, not for each vector. */
export function scoreSql(extension: string, { dimensions }: IndexedModel): string {
  const type = `${extension}.vector(${dimensions})`;
  return `-(v.vector::${type} OPERATOR(${extension}.<#>) (SELECT ?::real[]::${type}))`;
}

export function scoredVector(row: Row): ScoredVector {
  return {
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    score: numberOf(row, 'score'),
  };
}

export function ownersIn(found: readonly ScoredVector[]): number {
  return new Set(found.map(({ owner }) => owner)).size;
}
