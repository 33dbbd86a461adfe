import type { SourceHit } from '../../tools/search-source.ts';

export interface FusedHit extends SourceHit {
  source: string;
  /** Place in its own source's list, from 1. */
  rank: number;
}

/** Scores of different sources can't be compared, ranks can: reciprocal rank fusion with the usual constant. */
const rankConstant = 60;

/**
 * One list of the lists. A hit that several sources give (the same URI) adds up and is kept once, as its best source
 * has it. Equal scores stay in the order of the sources, so that the same answers always fuse to the same list.
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
