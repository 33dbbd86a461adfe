import type { VectorState } from '../../storage/contracts/vectors.ts';

/** A match found by meaning. */
export interface MeaningMatch {
  /** The owner of the vector: an entry, or a passage by its key. */
  readonly id: number;
  readonly cosine: number;
  /** The part of the text that is nearest to the query, as offsets in UTF-16 units. */
  readonly window: { readonly start: number; readonly end: number };
}

export interface NearestOptions<Filter> {
  readonly limit: number;
  readonly filter: Filter | undefined;
  /** Restricts the search to these owners. */
  readonly allowed: AllowedOwners | undefined;
  /** Read after the search started, so it includes everything that the search has to find. */
  readonly state: VectorState;
  readonly signal: AbortSignal;
}

export type AllowedOwners = ReadonlySet<number> | ArrayLike<number>;

/** Finds the nearest owners, each once, by its nearest vector. */
export interface NearestVectors<Filter> {
  search(query: Float32Array, options: NearestOptions<Filter>): Promise<MeaningMatch[]>;
  close(): Promise<void>;
}

/** The nearest vector of each owner; ties by owner. */
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
