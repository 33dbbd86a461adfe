import type { SourceHit } from '../../tools/search-source.ts';

export interface FoundHit extends SourceHit {
  source: string;
  relevance: number;
}

/**
 * Sorts the hits of all sources by relevance, then date, then source order. Of hits with the same URI, only the best
 * one remains.
 */
export function byRelevance(hits: readonly FoundHit[]): FoundHit[] {
  const found = new Map<string, FoundHit>();
  for (const hit of hits) {
    const known = found.get(hit.uri);
    if (known === undefined) found.set(hit.uri, { ...hit });
    else if (known.source !== hit.source) {
      const [better, other] = hit.relevance > known.relevance ? [hit, known] : [known, hit];
      found.set(hit.uri, { ...better, why: `${better.why}; ${other.source}: ${other.why}` });
    }
  }
  return [...found.values()].toSorted((a, b) => b.relevance - a.relevance || timeOf(b) - timeOf(a));
}

/** Hits without a date sort last. */
function timeOf({ date }: FoundHit): number {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
