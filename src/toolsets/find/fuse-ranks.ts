import type { SourceHit } from '../../tools/search-source.ts';

export interface FusedHit extends SourceHit {
  source: string;
  /** Position in the list of its source, from 1. */
  rank: number;
}

/** Scores of different sources can't be compared, ranks can: reciprocal rank fusion with the usual constant. */
const rankConstant = 60;

/**
 * Merges the lists into one. The scores of a hit that several sources return (by URI) add up, and it is kept once, as its
 * best source has it. Ties are in the order of the sources, so that the same answers always give the same list.
 */
export function fuseRanks(lists: readonly { source: string; hits: readonly SourceHit[] }[]): FusedHit[] {
  const fused = new Map<string, FusedHit>();
  for (const { source, hits } of lists) {
    for (const [index, hit] of hits.entries()) {
      const score = 1 / (rankConstant + index + 1);
      const known = fused.get(hit.uri);
      if (known === undefined) fused.set(hit.uri, { ...hit, source, rank: index + 1, score });
      else if (known.source !== source) {
        known.score += score;
        known.why += `; ${source}: ${hit.why}`;
      }
    }
  }
  return [...fused.values()].toSorted((a, b) => b.score - a.score);
}
