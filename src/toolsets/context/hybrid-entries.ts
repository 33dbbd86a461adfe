import { isCarrelError } from '../../base/errors.ts';
import type { EntryFilter } from '../../storage/entries/entry-filter.ts';
import { plainQuery } from '../../words/word-query.ts';
import type { ContextParts } from './context-parts.ts';
import type { MeaningMatch } from './meaning-index.ts';
import { allowedIds, pendingWarning, rankDepth } from './ranked-search.ts';
import { startStats } from './search-answer.ts';
import { adaptiveQuery } from './word-modes.ts';

export interface HybridRequest {
  readonly text: string;
  readonly filter: EntryFilter;
  /** How many filters narrow the search, for its statistics. */
  readonly applied: number;
  readonly rrfK: number;
  readonly explain: boolean;
  readonly signal: AbortSignal;
}

export interface HybridScores {
  rrf: number;
  fts_rank: number | null;
  semantic_rank: number | null;
  fts_score: number | null;
  semantic_distance: number | null;
  rerank_score: null;
}

export interface HybridMatches {
  /** The whole order; a page is cut out of it. */
  readonly ranked: readonly { readonly id: number; readonly scores: HybridScores }[];
  readonly modes: readonly ('fts' | 'semantic')[];
  readonly ftsCount: number;
  readonly semanticCount: number;
  readonly warnings: { degraded?: string; warnings?: string[] };
  readonly stats: Record<string, unknown>;
}

type Parts = Pick<ContextParts, 'entries' | 'meaning' | 'backend'>;

/**
 * Search by words and by meaning together:
 *
 * 1. Ask both legs at the same time, each for as many as are ever put in order.
 * 2. Where the meaning cannot be had, go on with the words and say so.
 * 3. Add up reciprocal ranks (Cormack et al., SIGIR 2009); equals stay in the order of the words, then of the meaning.
 */
export async function searchHybrid(
  request: HybridRequest,
  { words }: { words: boolean },
  parts: Parts,
): Promise<HybridMatches> {
  const [byWords, byMeaning] = await Promise.all([
    words ? searchWords(request, parts) : undefined,
    parts.meaning === undefined ? undefined : searchMeaning(request, parts),
  ]);
  const failed = byMeaning !== undefined && 'failure' in byMeaning;
  const meaning = byMeaning === undefined || 'failure' in byMeaning ? undefined : byMeaning;
  if (failed && byWords === undefined) throw byMeaning.failure;
  const fused = fuse(byWords?.hits ?? [], meaning?.matches ?? [], request.rrfK);
  const both = fused.filter(({ scores }) => scores.fts_rank !== null && scores.semantic_rank !== null).length;
  return {
    ranked: fused,
    modes: [...(byWords ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
    ftsCount: byWords?.hits.length ?? 0,
    semanticCount: meaning?.matches.length ?? 0,
    warnings: failed
      ? {
          degraded: 'meaning_unavailable',
          warnings: ['Search by meaning failed; these results are found by words only'],
        }
      : pendingWarning(meaning?.pending ?? 0),
    stats: {
      fts_stats: byWords?.stats ?? null,
      semantic_stats: meaning?.stats ?? null,
      fusion_stats: {
        rrf_k: request.rrfK,
        total_unique_documents: fused.length,
        documents_in_both: both,
        documents_fts_only: (byWords?.hits.length ?? 0) - both,
        documents_semantic_only: (meaning?.matches.length ?? 0) - both,
      },
      adaptive_fts_mode: byWords?.mode ?? null,
    },
  };
}

async function searchWords({ text, filter, applied, explain, signal }: HybridRequest, { entries, backend }: Parts) {
  const stats = startStats(backend, applied);
  const { query, mode } = adaptiveQuery(text);
  const page = { filter, limit: rankDepth, offset: 0, explain };
  const strict = await entries.searchWords({ query, ...page }, { signal });
  // Nothing has all of the words: then some of them are better than nothing.
  const loose = strict.hits.length === 0 && mode === 'match';
  const found = loose ? await entries.searchWords({ query: plainQuery(text), ...page }, { signal }) : strict;
  return { hits: found.hits, mode: loose ? 'boolean' : mode, stats: stats(found.hits.length, found.plan) };
}

async function searchMeaning(
  { text, filter, applied, explain, signal }: HybridRequest,
  { entries, meaning, backend }: Parts,
) {
  const stats = startStats(backend, applied);
  try {
    const { allowed, plan } = await allowedIds(entries, filter, explain, signal);
    const found = await meaning?.search({ text, limit: rankDepth, allowed, signal });
    const matches = found?.matches ?? [];
    return { matches, pending: found?.pending ?? 0, stats: stats(matches.length, plan) };
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return { failure: error };
    throw error;
  }
}

function fuse(
  words: readonly { readonly id: number; readonly score: number }[],
  meaning: readonly MeaningMatch[],
  k: number,
): { id: number; scores: HybridScores }[] {
  const fused = new Map<number, HybridScores>();
  const scoresOf = (id: number): HybridScores => {
    const known = fused.get(id);
    if (known !== undefined) return known;
    const fresh: HybridScores = {
      rrf: 0,
      fts_rank: null,
      semantic_rank: null,
      fts_score: null,
      semantic_distance: null,
      rerank_score: null,
    };
    fused.set(id, fresh);
    return fresh;
  };
  words.forEach(({ id, score }, index) => {
    const scores = scoresOf(id);
    scores.fts_rank = index + 1;
    scores.fts_score = score;
    scores.rrf += 1 / (k + index + 1);
  });
  meaning.forEach(({ id, distance }, index) => {
    const scores = scoresOf(id);
    scores.semantic_rank = index + 1;
    scores.semantic_distance = distance;
    scores.rrf += 1 / (k + index + 1);
  });
  return [...fused].map(([id, scores]) => ({ id, scores })).sort((a, b) => b.scores.rrf - a.scores.rrf);
}
