import type { SourceHit } from '../../tools/search-source.ts';

export interface FoundHit extends SourceHit {
  source: string;
  relevance: number;
}

/**
 * One list of the hits of all sources, the most relevant first, equals by date, the newest first. A hit that several sources
 * return (by URI) is kept once, as its best source has it. What is equal in all stays in the order of the sources.
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

/** Hits without a date come behind those with one. */
function timeOf({ date }: FoundHit): number {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
