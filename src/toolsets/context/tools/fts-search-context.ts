import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { currentLanguage } from '../../../words/language.ts';
import { findMatches } from '../../../words/snippet.ts';
import type { WordQuery } from '../../../words/word-query.ts';
import { type ContextParts, loadEntries } from '../context-parts.ts';
import { pastWarnings } from '../search/past-warnings.ts';
import { filterFaults, searchAnswer, startStats } from '../search/search-answer.ts';
import { pageOf, parseFilters, queryInput, queryText, searchInput } from '../search/search-input.ts';
import { searchModes, wordQueryOf } from '../search/word-modes.ts';
import { showFound } from '../show/entry-shapes.ts';
import { fitBudget } from '../show/token-budget.ts';

export function createFtsSearchContextTool({
  entries,
  backend,
  truncationChars,
  reranks,
  summaries,
}: Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranks' | 'summaries'>): Tool {
  return defineTool({
    name: 'fts_search_context',
    title: 'Full-Text Search Context',
    description:
      'Finds entries by words, the most relevant first. match: all words, in any form; prefix: all words, as prefixes; phrase: words side by side; boolean: AND, OR, NOT, "phrases" and parentheses.',
    effect: 'read',
    input: z.object({
      query: queryInput,
      mode: z.enum(searchModes).default('match'),
      ...searchInput({ limit: 5 }),
      highlight: z.boolean().default(false).describe('Add the text with <mark> around matches.'),
    }),
    output: searchAnswer({ query: z.string(), mode: z.string(), language: z.string() }),
    async run(input, { signal }) {
      const text = queryText(input.query);
      const query = wordQueryOf(text, input.mode);
      const { filter, faults, applied } = parseFilters(input);
      const { limit, offset, clamped } = pageOf(input);
      const stats = startStats(backend, applied);
      const explain = input.explain_query;
      const head = { query: input.query, mode: input.mode, language: currentLanguage() };
      if (faults.length > 0) {
        return { ...head, ...filterFaults(faults), ...clamped, ...(explain ? { stats: stats(0, undefined) } : {}) };
      }
      const page = await entries.searchWords({ query, filter, limit, offset, explain }, { signal });
      const scores = new Map(page.hits.map(({ id, score }) => [id, score]));
      await summaries?.settle();
      const shape = { images: input.include_images, asOf: filter.asOf };
      const found = await loadEntries(entries, [...scores.keys()], shape, signal);
      const shown = found.map((entry) => ({
        ...showFound(entry, truncationChars),
        scores: {
          fts_score: scores.get(entry.id) ?? 0,
          fts_rank: null,
          ...(reranks ? { rerank_score: (scores.get(entry.id) ?? 0) / Math.max(page.scoreMax, Number.EPSILON) } : {}),
        },
        ...(input.highlight ? { highlighted: highlight(entry.text, query) } : {}),
      }));
      const { entries: results, report } = fitBudget(shown, input.budget_tokens, input);
      return {
        ...head,
        results,
        count: results.length,
        total: page.total,
        has_more: offset + page.hits.length < page.total,
        ...(explain ? { stats: stats(results.length, page.plan) } : {}),
        ...clamped,
        ...report,
        ...(await pastWarnings(entries, filter, 'search', signal)),
      };
    },
  });
}

/** The whole text with `<mark>` around the matches. Marks that are already in the text are escaped. */
export function highlight(text: string, query: WordQuery): string {
  let result = '';
  let at = 0;
  for (const { start, end } of findMatches(text, query)) {
    if (start < at) continue;
    result += `${plain(text.slice(at, start))}<mark>${plain(text.slice(start, end))}</mark>`;
    at = end;
  }
  return result + plain(text.slice(at));
}

function plain(text: string): string {
  return text.replace(/<(\/?mark>)/gi, '&lt;$1');
}
