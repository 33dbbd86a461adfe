import * as z from 'zod';
import { cosineSpanOf } from '../../../search/embeddings/bundled-model.ts';
import { judgePage } from '../../../search/judging.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { weakHint } from '../../../tools/weak-hint.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { emptyHint } from '../search/empty-hint.ts';
import { createEntryJudging, judgedFields } from '../search/entry-judging.ts';
import { rangeOf } from '../search/hybrid-entries.ts';
import { joinWarnings, pastWarnings } from '../search/past-warnings.ts';
import { distanceOf, neededFilter, pendingWarning, planOf, rankDepth, settleMs } from '../search/ranked-search.ts';
import { filterFaults, foundEntries, nextOffset, searchAnswer, startStats } from '../search/search-answer.ts';
import { pageOf, parseFilters, queryInput, queryText, searchInput, weakInput } from '../search/search-input.ts';
import { citationOf } from '../show/citation.ts';
import { showFound } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export function createSemanticSearchContextTool(
  meaning: EntryMeaning,
  {
    entries,
    backend,
    truncationChars,
    reranker,
    summaries,
    texts,
  }: Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranker' | 'summaries' | 'texts'>,
): Tool {
  return defineTool({
    name: 'semantic_search_context',
    title: 'Semantic Search Context',
    description: 'Finds entries by meaning alone, for questions in other words than the entries, nearest first.',
    effect: 'read',
    found: foundEntries,
    input: z.object({ query: queryInput, ...searchInput({ limit: 5 }), ...weakInput }),
    output: searchAnswer('query, model, weak_omitted?, reranking?'),
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
      const { matches, pending, model } = await meaning.search(wanted);
      // One more than is shown, to know whether there are more.
      const judged = await judgePage(
        { text, limit: limit + 1, offset, cut: input.include_weak ? undefined : 'weak', signal },
        matches.map((match) => ({ ...match, ...nearnessOf(match.cosine, matches[0]?.cosine, model) })),
        createEntryJudging({ entries, reranker, texts }, { asOf: filter.asOf }),
      );
      const page = new Map(judged.page.slice(0, limit).map((each) => [each.hit.id, each]));
      const weak = input.include_weak ? 0 : Math.max(0, Math.min(limit, matches.length - offset) - page.size);
      await summaries?.settle();
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
            const { hit, relevance = 0, range } = page.get(entry.id) ?? {};
            return {
              ...showFound(entry, truncationChars),
              ...citationOf(entry, range ?? rangeOf(hit?.window)),
              relevance,
              scores: {
                semantic_distance: distanceOf(hit?.near ?? 1),
                semantic_rank: null,
                ...(reranker.provider ? { rerank_score: relevance } : {}),
              },
            };
          },
        },
        call,
      );
      return {
        ...head,
        results,
        count: results.length,
        has_more: omitted.length > 0 || judged.page.length > limit,
        ...(explain ? { stats: stats(results.length, plan) } : {}),
        ...clamped,
        ...report,
        ...nextOffset(offset, results, omitted),
        ...judgedFields({ ...judged, omitted: weak }),
        ...(found.length === 0 && weak > 0
          ? { hint: weakHint(weak, 'entry', 'entries') }
          : await emptyHint(entries, [...found, ...omitted], { filter, offset, total: judged.kept }, signal)),
        ...joinWarnings(pendingWarning(pending), await pastWarnings(entries, filter, 'search', signal)),
      };
    },
  });
}

/** What hits by meaning alone are ranked by: how far below the best they are, as in the hybrid. */
function nearnessOf(cosine: number, best = cosine, model: string) {
  const span = cosineSpanOf(model);
  const score = 1 - (best - cosine) / (span ?? usualSpan);
  return { score, near: cosine, cosine: span === undefined ? undefined : cosine };
}

/** Of models that nobody has measured. */
const usualSpan = 0.25;
