import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { weakHint } from '../../../tools/weak-hint.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts } from '../context-parts.ts';
import { emptyHint, joinHints, mendedHint, wordsOf } from '../search/empty-hint.ts';
import { judgedFields } from '../search/entry-judging.ts';
import { noStats, searchEntries } from '../search/hybrid-entries.ts';
import { joinWarnings, pastWarnings } from '../search/past-warnings.ts';
import { settleMs } from '../search/ranked-search.ts';
import { elapsed, filterFaults, foundEntries, nextOffset, searchAnswer } from '../search/search-answer.ts';
import { pageOf, parseFilters, queryInput, queryText, searchInput, weakInput } from '../search/search-input.ts';
import { citationOf } from '../show/citation.ts';
import { showFound } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export interface HybridSettings {
  readonly words: boolean;
}

export function createHybridSearchContextTool(
  settings: HybridSettings,
  parts: Pick<
    ContextParts,
    'entries' | 'meaning' | 'backend' | 'truncationChars' | 'rrfK' | 'reranker' | 'summaries' | 'texts'
  >,
): Tool {
  const { entries, truncationChars } = parts;
  return defineTool({
    name: 'hybrid_search_context',
    title: 'Hybrid Search Context',
    description:
      'The search of the memory to start with: by words and meaning together, best first. Filters: see search_context.',
    effect: 'read',
    found: foundEntries,
    input: z.object({
      query: queryInput,
      ...searchInput({ limit: 5 }),
      fusion_method: z.enum(['rrf']).default('rrf'),
      rrf_k: z.int().min(1).max(1000).optional(),
      ...weakInput,
    }),
    output: searchAnswer(
      'query, fusion_method, search_modes_used, fts_count, semantic_count, weak_omitted?, reranking?',
    ),
    async run(input, call) {
      const { signal } = call;
      const start = performance.now();
      const text = queryText(input.query);
      const { filter, faults, applied } = parseFilters(input);
      const { limit, offset, clamped } = pageOf(input);
      const rrfK = input.rrf_k ?? parts.rrfK;
      const head = { query: input.query, fusion_method: input.fusion_method };
      if (faults.length > 0) {
        const stats = input.explain_query ? { stats: { execution_time_ms: elapsed(start), ...noStats(rrfK) } } : {};
        const counts = { search_modes_used: [], fts_count: 0, semantic_count: 0 };
        return { ...head, ...filterFaults(faults), ...counts, ...clamped, ...stats };
      }
      if (!settings.words && parts.meaning === undefined) {
        throw new CarrelError('unavailable', 'No search modes available: full text and meaning are both switched off');
      }
      const includesWeak = input.include_weak ?? false;
      const request = { text, filter, applied, limit, offset, rrfK, includesWeak, explain: input.explain_query };
      const fused = await searchEntries({ ...request, waitMs: settleMs, signal }, settings, parts);
      const page = new Map(fused.matches.map((match) => [match.id, match]));
      await parts.summaries?.settle();
      const { results, found, omitted, report } = await fitAnswer(
        entries,
        [...page.keys()],
        {
          images: input.include_images,
          asOf: filter.asOf,
          textChars: truncationChars + 1,
          order: 'given',
          input,
          show: (entry) => {
            const { relevance, scores, range } = page.get(entry.id) ?? {};
            return { ...showFound(entry, truncationChars), ...citationOf(entry, range), relevance, scores };
          },
        },
        call,
      );
      return {
        ...head,
        results,
        count: results.length,
        has_more: omitted.length > 0 || fused.hasMore,
        search_modes_used: [...fused.modes],
        fts_count: fused.ftsCount,
        semantic_count: fused.semanticCount,
        ...(input.explain_query ? { stats: { execution_time_ms: elapsed(start), ...fused.stats } } : {}),
        ...clamped,
        ...report,
        ...judgedFields(fused),
        ...nextOffset(offset, results, omitted),
        ...joinHints(
          found.length > 0 ? mendedHint(fused.mended) : undefined,
          report.hint,
          found.length === 0 && fused.omitted > 0
            ? weakHint(fused.omitted, 'entry', 'entries')
            : (
                await emptyHint(
                  entries,
                  [...found, ...omitted],
                  { filter, offset, total: fused.ranked, words: settings.words ? wordsOf(plainQuery(text)) : [] },
                  signal,
                )
              ).hint,
        ),
        ...joinWarnings(fused.warnings, await pastWarnings(entries, filter, 'search', signal)),
      };
    },
  });
}
