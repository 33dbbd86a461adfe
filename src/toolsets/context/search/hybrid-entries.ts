import type { FusedMatch } from '../../../search/fusion.ts';
import { searchHybrid } from '../../../search/hybrid.ts';
import type { MendedWord } from '../../../words/ranking/word-index.ts';
import type { ContextParts } from '../context-parts.ts';
import { adaptiveMode } from './adaptive-mode.ts';
import { createEntryLegs, type LegsRequest } from './entry-legs.ts';
import type { Warned } from './past-warnings.ts';
import { distanceOf, pendingWarning, rankDepth } from './ranked-search.ts';

export interface HybridRequest extends LegsRequest {
  readonly limit: number;
  readonly offset: number;
  readonly rrfK: number;
}

export interface HybridScores {
  rrf: number;
  fts_rank: number | null;
  semantic_rank: number | null;
  fts_score: number | null;
  semantic_distance: number | null;
  rerank_score: number | null;
}

export interface HybridMatches {
  /** The page, in order. */
  readonly matches: readonly { readonly id: number; readonly scores: HybridScores }[];
  readonly modes: readonly ('fts' | 'semantic')[];
  /** Of all pages. */
  readonly ranked: number;
  readonly ftsCount: number;
  readonly semanticCount: number;
  readonly warnings: Warned;
  /** What was searched for instead of misspelt words. */
  readonly mended: readonly MendedWord[];
  readonly stats: Record<string, unknown>;
}

/**
 * Search by words and by meaning together (search/hybrid.ts), in the shapes of 002: ordered by relevance, or by RRF if
 * reranking is switched off.
 */
export async function searchEntries(
  request: HybridRequest,
  settings: { words: boolean },
  parts: Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'reranks'>,
): Promise<HybridMatches> {
  const { text, limit, offset, rrfK, signal } = request;
  const { told, ...legs } = createEntryLegs(request, settings, parts);
  const found = await searchHybrid(
    { text, limit, offset, depth: rankDepth, signal },
    { order: parts.reranks ? 'weighted' : 'rrf', rrfK },
    legs,
  );
  if (found.failure && !settings.words) throw found.failure;
  const { words, meaning } = found.listed;
  const [ftsCount, semanticCount] = [words.length, meaning?.length ?? 0];
  const both = ftsCount + semanticCount - found.ranked;
  return {
    matches: found.matches.map((match) => ({ id: match.id, scores: scoresOf(match) })),
    modes: [...(settings.words ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
    ranked: found.ranked,
    ftsCount,
    semanticCount,
    warnings: found.failure ? meaningFailed : pendingWarning(found.pending),
    mended: told.mended,
    stats: {
      fts_stats: told.wordStats ?? null,
      semantic_stats: told.meaningStats ?? null,
      fusion_stats: {
        rrf_k: rrfK,
        total_unique_documents: found.ranked,
        documents_in_both: both,
        documents_fts_only: ftsCount - both,
        documents_semantic_only: semanticCount - both,
      },
      adaptive_fts_mode: told.wordMode === undefined ? null : adaptiveMode(text),
    },
  };

  function scoresOf({ id, score, explanation }: FusedMatch): HybridScores {
    const ftsRank = explanation.words?.rank;
    const near = explanation.meaning?.rank === undefined ? undefined : explanation.meaning;
    return {
      rrf: explanation.rrf,
      fts_rank: ftsRank ?? null,
      semantic_rank: near?.rank ?? null,
      fts_score: ftsRank === undefined ? null : (told.wordScores.get(id) ?? null),
      semantic_distance: near ? distanceOf(near.cosine) : null,
      rerank_score: parts.reranks ? score : null,
    };
  }
}

/** The statistics of a search that was not carried out. */
export function noStats(rrfK: number): HybridMatches['stats'] {
  const none = { total_unique_documents: 0, documents_in_both: 0, documents_fts_only: 0, documents_semantic_only: 0 };
  return {
    fts_stats: null,
    semantic_stats: null,
    fusion_stats: { rrf_k: rrfK, ...none },
    adaptive_fts_mode: null,
  };
}

const meaningFailed = {
  degraded: 'meaning_unavailable',
  warnings: ['Search by meaning failed; these results were found by words only'],
};
