import * as z from 'zod';
import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { emptyHint } from '../search/hints.ts';
import { filterFaults, historyWarnings, listOutput, nextOffset, startStats } from '../search/search-answer.ts';
import { pageOf, parseFilters, searchInput } from '../search/search-input.ts';
import { citationOf } from '../show/entry-resources.ts';
import { showHit } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export function createSearchContextTool({
  entries,
  backend,
  truncationChars,
  summaries,
}: Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'summaries'>): Tool {
  return defineTool({
    name: 'search_context',
    title: 'Search Context',
    description:
      'Lists memory entries by filter, newest first, at most 100; long texts are truncated. To search for text, use hybrid_search_context. Operators in metadata_filters: eq, ne, gt, gte, lt, lte, in, not_in, exists, not_exists, contains, starts_with, ends_with, is_null, is_not_null, array_contains; dots in keys reach into objects (a.b); case_sensitive is optional.',
    effect: 'read',
    input: z.object(searchInput({ limit: 30 })),
    output: listOutput,
    async run(input, call) {
      const { signal } = call;
      const { filter, faults, applied } = parseFilters(input);
      const { limit, offset, clamped } = pageOf(input);
      const stats = startStats(backend, applied);
      const explain = input.explain_query;
      if (faults.length > 0)
        return { ...filterFaults(faults), ...clamped, ...(explain ? { stats: stats(0, undefined) } : {}) };
      await summaries?.waitForLocal();
      const page = await entries.list(
        // One more than shown, to detect further entries.
        {
          filter,
          limit: limit + 1,
          offset,
          images: input.include_images,
          explain,
          textChars: truncationChars + 1,
          bytesMax: itemBytesMax(call),
        },
        { signal },
      );
      const hasMore = page.entries.length + page.remainingIds.length > limit;
      const { results, found, omitted, report } = await fitAnswer(
        entries,
        {
          entries: page.entries.slice(0, limit),
          remainingIds: page.remainingIds.slice(0, limit - page.entries.length),
        },
        {
          images: input.include_images,
          asOf: filter.asOf,
          textChars: truncationChars + 1,
          order: 'requested',
          input,
          show: (entry) => ({
            ...showHit(entry, truncationChars),
            ...(input.explain ? citationOf(entry, undefined) : {}),
          }),
        },
        call,
      );
      return {
        results,
        count: results.length,
        has_more: omitted.length > 0 || hasMore,
        ...(explain ? { stats: stats(results.length, page.plan) } : {}),
        ...clamped,
        ...report,
        ...nextOffset(offset, results, omitted),
        ...(await emptyHint(entries, [...found, ...omitted], { filter, offset }, signal)),
        ...(await historyWarnings(entries, filter, 'read', signal)),
      };
    },
  });
}
