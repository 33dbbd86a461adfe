import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { emptyHint } from '../search/empty-hint.ts';
import { joinWarnings, pastWarnings } from '../search/past-warnings.ts';
import { distanceOf, neededFilter, pendingWarning, planOf, rankDepth, settleMs } from '../search/ranked-search.ts';
import { filterFaults, nextOffset, searchAnswer, startStats } from '../search/search-answer.ts';
import { pageOf, parseFilters, queryInput, queryText, searchInput } from '../search/search-input.ts';
import { showFound } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export function createSemanticSearchContextTool(
  meaning: EntryMeaning,
  {
    entries,
    backend,
    truncationChars,
    reranks,
    summaries,
  }: Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranks' | 'summaries'>,
): Tool {
  return defineTool({
    name: 'semantic_search_context',
    title: 'Semantic Search Context',
    description: 'Finds entries by meaning alone, for questions in other words than the entries, nearest first.',
    effect: 'read',
    input: z.object({ query: queryInput, ...searchInput({ limit: 5 }) }),
    output: searchAnswer('query, model'),
    async run(input, call) {
      const { signal } = call;
      const text = queryText(input.query);
      const { filter, faults, applied } = parseFilters(input);
      const { limit, offset, clamped } = pageOf(input);
      const stats = startStats(backend, applied);
      const explain = input.explain_query;
      const head = { query: input.query, model: meaning.model };
      if (faults.length > 0) {
        return { ...head, ...filterFaults(faults), ...clamped, ...(explain ? { stats: stats(0, undefined) } : {}) };
      }
      const plan = explain ? await planOf(entries, filter, signal) : undefined;
      const wanted = { text, limit: rankDepth, filter: neededFilter(filter), waitMs: settleMs, signal };
      const { matches, pending } = await meaning.search(wanted);
      const page = matches.slice(offset, offset + limit);
      const cosines = new Map(page.map(({ id, cosine }) => [id, cosine]));
      await summaries?.settle();
      const { results, found, omitted, report } = await fitAnswer(
        entries,
        [...cosines.keys()],
        {
          images: input.include_images,
          asOf: filter.asOf,
          textChars: truncationChars + 1,
          order: 'given',
          input,
          show: (entry) => ({
            ...showFound(entry, truncationChars),
            scores: {
              semantic_distance: distanceOf(cosines.get(entry.id) ?? 1),
              semantic_rank: null,
              ...(reranks ? { rerank_score: Math.min(1, Math.max(0, cosines.get(entry.id) ?? 0)) } : {}),
            },
          }),
        },
        call,
      );
      return {
        ...head,
        results,
        count: results.length,
        has_more: omitted.length > 0 || offset + page.length < matches.length,
        ...(explain ? { stats: stats(results.length, plan) } : {}),
        ...clamped,
        ...report,
        ...nextOffset(offset, results, omitted),
        ...(await emptyHint(entries, [...found, ...omitted], { filter, offset, total: matches.length }, signal)),
        ...joinWarnings(pendingWarning(pending), await pastWarnings(entries, filter, 'search', signal)),
      };
    },
  });
}
