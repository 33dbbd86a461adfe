import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts } from '../context-parts.ts';
import { answerSearch } from '../search/answer-search.ts';
import { relevanceFields } from '../search/entry-reranking.ts';
import { correctedHint, wordsOf } from '../search/hints.ts';
import { noStats, searchEntries } from '../search/hybrid-entries.ts';
import { vectorWaitMs } from '../search/ranked-search.ts';
import { elapsedMs, entryResultFields, searchOutput } from '../search/search-answer.ts';
import { queryInput, searchInput, weakInput } from '../search/search-input.ts';

export function createHybridSearchContextTool(
  settings: { words: boolean },
  parts: Pick<
    ContextParts,
    'entries' | 'meaning' | 'backend' | 'truncationChars' | 'rrfK' | 'reranker' | 'summaries' | 'texts'
  >,
): Tool {
  return defineTool({
    name: 'hybrid_search_context',
    title: 'Hybrid Search Context',
    description:
      'Searches memory by words and meaning, best first. Start here for what was said, done or decided before. Long texts are truncated; get_context_by_ids returns them whole.',
    effect: 'read',
    resultFields: entryResultFields,
    input: z.object({
      query: queryInput,
      ...searchInput({ limit: 5 }),
      fusion_method: z.enum(['rrf']).default('rrf'),
      rrf_k: z.int().min(1).max(1000).optional().describe('Rank fusion constant.'),
      ...weakInput,
    }),
    output: searchOutput(
      'query, fusion_method, search_modes_used, fts_count, semantic_count, weak_omitted?, reranking?',
    ),
    run(input, call) {
      const start = performance.now();
      const rrfK = input.rrf_k ?? parts.rrfK;
      return answerSearch(
        {
          requestFields: { query: input.query, fusion_method: input.fusion_method },
          ifInvalid: {
            modeFields: { search_modes_used: [], fts_count: 0, semantic_count: 0 },
            stats: () => ({ execution_time_ms: elapsedMs(start), ...noStats(rrfK) }),
          },
          async search(request) {
            if (!settings.words && parts.meaning === undefined) {
              throw new CarrelError(
                'unavailable',
                'No search modes available: full-text and semantic search are both disabled (ENABLE_FTS, ENABLE_SEMANTIC_SEARCH)',
              );
            }
            const options = { rrfK, includesWeak: input.include_weak ?? false, waitMs: vectorWaitMs };
            const fused = await searchEntries({ ...request, ...options }, settings, parts);
            return {
              hits: fused.matches,
              hasMore: fused.hasMore,
              weak: fused.omitted,
              modeFields: {
                search_modes_used: [...fused.modes],
                fts_count: fused.ftsCount,
                semantic_count: fused.semanticCount,
              },
              relevanceFields: relevanceFields(fused),
              stats: () => ({ execution_time_ms: elapsedMs(start), ...fused.stats }),
              hints: [fused.matches.length > 0 ? correctedHint(fused.corrected) : undefined],
              empty: { total: fused.ranked, words: settings.words ? wordsOf(plainQuery(request.text)) : [] },
              warnings: fused.warnings,
            };
          },
        },
        input,
        parts,
        call,
      );
    },
  });
}
