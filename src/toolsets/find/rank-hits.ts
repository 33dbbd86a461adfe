import { whyFound } from '../../answers/explain.ts';
import { sharesOf } from '../../search/rank/evidence-shares.ts';
import { leadAmong, threeDigits } from '../../search/rank/relevance.ts';
import { rerankPage } from '../../search/rank/rerank-page.ts';
import type { Reranker, RerankingState } from '../../search/rerank/reranker.ts';
import type { SourceHit } from '../../tools/search-source.ts';
import { findMatches } from '../../words/snippet.ts';
import { leavesOf, plainQuery } from '../../words/word-query.ts';

interface ScoredHits {
  readonly hits: FoundHit[];
  /** Number of omitted low-relevance hits. */
  readonly omitted: number;
  /** Undefined if there was nothing to score. */
  readonly reranking: RerankingState | undefined;
}

/**
 * Scores hits of external sources (Fess, the web), which report no relevance, by title and snippet. Then compares the
 * hits of all sources.
 */
export async function scoreHits(
  lists: readonly { source: string; hits: readonly SourceHit[] }[],
  { query, includesWeak, signal }: { query: string; includesWeak: boolean; signal: AbortSignal },
  reranker: Reranker,
): Promise<ScoredHits> {
  const all = lists.flatMap(({ source, hits }) => hits.map((hit) => ({ ...hit, source })));
  const scored = all.flatMap((hit) => (hit.relevance === undefined ? [] : [{ ...hit, relevance: hit.relevance }]));
  const unscored = all.filter(({ relevance }) => relevance === undefined);
  if (unscored.length === 0) return { hits: compareAcrossSources(scored, reranker), omitted: 0, reranking: undefined };
  const ranked = unscored.map((hit, id) => ({
    id,
    score: 1 - id / unscored.length,
    coverage: coverageOf(hit, query),
    hit,
  }));
  const texts = new Map(
    ranked.map(({ id, hit }) => [id, { text: hit.snippet, prefix: hit.title && `${hit.title}\n` }]),
  );
  const { page, omitted, reranking } = await rerankPage(
    { text: query, limit: ranked.length, offset: 0, cutoff: includesWeak ? undefined : 'weak', signal },
    ranked,
    { reranker, words: undefined, texts: async () => texts },
  );
  const newlyScored = page.map(({ hit: { hit }, relevance, evidence }) => {
    const why = whyFound({ query, text: `${hit.title}\n${hit.snippet}`, passage: hit.snippet });
    return { ...hit, relevance, why: `${hit.why}; ${why}`, scores: sharesOf(evidence, reranker) };
  });
  return { hits: compareAcrossSources([...scored, ...newlyScored], reranker), omitted, reranking };
}

/**
 * Returns the share of the query's words that occur in title or snippet. All words count alike, because their rarity
 * is unknown here.
 */
function coverageOf({ title, snippet }: SourceHit, query: string): number {
  const words = plainQuery(query);
  const matched = new Set(findMatches(`${title}\n${snippet}`, words).map(({ leaf }) => leaf));
  return matched.size / Math.max(1, leavesOf(words).length);
}

/**
 * Lowers the relevance of hits that stand out only in their own source. `lead` is how far a hit's logit is above the
 * others.
 */
function compareAcrossSources(hits: readonly FoundHit[], { judge }: Pick<Reranker, 'judge'>): FoundHit[] {
  return hits.map((hit) => {
    const { logit, lead } = hit.scores ?? {};
    const otherLogits = hits.flatMap(({ source, replaced_by: newer, scores }) =>
      source !== hit.source && newer === undefined && isFiniteNumber(scores?.logit) ? [scores.logit] : [],
    );
    if (otherLogits.length === 0 || !isFiniteNumber(logit) || !isFiniteNumber(lead)) return hit;
    const [before, after] = [lead, leadAmong(logit, lead, otherLogits)].map(
      (each) => judge({ logit, lead: each }).relevance,
    );
    return before && after !== undefined ? { ...hit, relevance: threeDigits(hit.relevance * (after / before)) } : hit;
  });
}

/** Checks a score, because a remote engine may send anything. */
function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

export interface FoundHit extends SourceHit {
  source: string;
  relevance: number;
}

/** Sorts the hits of all sources by relevance, then date, then source order. Keeps only the best hit per URI. */
export function mergeByRelevance(hits: readonly FoundHit[]): FoundHit[] {
  const bestByUri = new Map<string, FoundHit>();
  for (const hit of hits) {
    const earlier = bestByUri.get(hit.uri);
    if (earlier === undefined) bestByUri.set(hit.uri, { ...hit });
    else if (earlier.source !== hit.source) {
      const [better, other] = hit.relevance > earlier.relevance ? [hit, earlier] : [earlier, hit];
      bestByUri.set(hit.uri, { ...better, why: `${better.why}; ${other.source}: ${other.why}` });
    }
  }
  return [...bestByUri.values()].toSorted((a, b) => b.relevance - a.relevance || timeOf(b) - timeOf(a));
}

/** Hits without a date sort last. */
function timeOf({ date }: FoundHit): number {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
