import type { ScoredVector, VectorSnapshot } from '../../storage/vectors/vector.ts';

/** A match found by meaning. */
export interface MeaningMatch {
  /** The owner of the vector: an entry, or a passage by its key. */
  readonly id: number;
  readonly cosine: number;
  /** The part of the text nearest to the query, in UTF-16 offsets. */
  readonly window: { readonly start: number; readonly end: number };
}

export interface NearestOptions {
  readonly limit: number;
  /** Restricts the search to these owners. */
  readonly allowed: readonly number[] | undefined;
  /** Read after the search started, so that it includes all earlier writes. */
  readonly snapshot: VectorSnapshot;
  readonly signal: AbortSignal;
}

/** Selects candidates for the nearest vectors. */
export interface NearestVectors {
  candidates(query: Float32Array, options: NearestOptions): Promise<NearCandidates>;
  /** Returns the keys of these owners' vectors. Undefined if the database is queried by owner instead. */
  readonly keysOf: ((owners: readonly number[]) => number[]) | undefined;
  close(): Promise<void>;
}

/** Vectors with exact scores, or keys that still need scoring. */
export type NearCandidates = { readonly scored: readonly ScoredVector[] } | { readonly keys: readonly number[] };

/** Returns the nearest vector of each owner, nearest first. Ties are broken by owner. */
export function bestOfOwners(
  scored: readonly { owner: number; start: number; end: number; score: number }[],
  limit: number,
): MeaningMatch[] {
  const best = new Map<number, MeaningMatch>();
  const ordered = scored.toSorted((a, b) => b.score - a.score || a.owner - b.owner || a.start - b.start);
  for (const { owner, start, end, score } of ordered) {
    if (best.has(owner)) continue;
    best.set(owner, { id: owner, cosine: score, window: { start, end } });
    if (best.size === limit) break;
  }
  return [...best.values()];
}
