import * as z from 'zod';
import { judgePage, reachOf } from '../../../search/judging.ts';
import type { EntryStore } from '../../../storage/contracts/entries.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { currentLanguage } from '../../../words/language.ts';
import type { ContextParts } from '../context-parts.ts';
import { emptyHint, joinHints, mendedHint, wordsOf } from '../search/empty-hint.ts';
import { createEntryJudging, judgedFields } from '../search/entry-judging.ts';
import { pastWarnings } from '../search/past-warnings.ts';
import { filterFaults, foundEntries, nextOffset, searchAnswer, startStats } from '../search/search-answer.ts';
import { pageOf, parseFilters, queryInput, queryText, searchInput } from '../search/search-input.ts';
import { absentWords, listed, relaxedMin, type SoughtWord, searchMostWords } from '../search/sought-words.ts';
import { modeRemark, searchModes, soughtWords, wordQueryOf } from '../search/word-modes.ts';
import { citationOf } from '../show/citation.ts';
import { showFound } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export function createFtsSearchContextTool({
  entries,
  backend,
  truncationChars,
  reranker,
  summaries,
  texts,
}: Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranker' | 'summaries' | 'texts'>): Tool {
  return defineTool({
    name: 'fts_search_context',
    title: 'Full-Text Search Context',
    description:
      'Finds entries by their words: for names, codes and exact terms. match: all words in any form, else most of them (relaxed), word* for a prefix; prefix: all as prefixes; phrase: side by side; boolean: AND, OR, NOT, "phrases", parentheses.',
    effect: 'read',
    found: foundEntries,
    input: z.object({
      query: queryInput,
      mode: z.enum(searchModes).default('match'),
      ...searchInput({ limit: 5 }),
      highlight: z.boolean().default(false).describe('Add the text with <mark> around matches.'),
    }),
    output: searchAnswer('query, mode, language, total, relaxed?, reranking?'),
    async run(input, call) {
      const { signal } = call;
      const text = queryText(input.query);
      const asked = wordQueryOf(text, input.mode);
      const { filter, faults, applied } = parseFilters(input);
      const { limit, offset, clamped } = pageOf(input);
      const stats = startStats(backend, applied);
      const explain = input.explain_query;
      const head = { query: input.query, mode: input.mode, language: currentLanguage() };
      if (faults.length > 0) {
        return { ...head, ...filterFaults(faults), ...clamped, ...(explain ? { stats: stats(0, undefined) } : {}) };
      }
      const reach = reachOf({ limit, offset });
      const strict = await entries.searchWords({ query: asked, filter, ...reach, explain }, { signal });
      const sought = input.mode === 'match' ? soughtWords(text) : [];
      const most =
        strict.total === 0 && sought.length >= relaxedMin
          ? await searchMostWords(entries, sought, { filter, ...reach }, signal)
          : undefined;
      const relaxed = most !== undefined && most.total > 0;
      const page = relaxed ? most : strict;
      const query = relaxed ? most.query : asked;
      const ranked = page.hits.map(({ id, score, coverage }) => ({
        ...{ id, score: score / (page.scoreMax || 1), found: score, coverage },
      }));
      const judged = await judgePage(
        { text, limit, offset: offset - reach.offset, before: reach.offset, signal },
        ranked,
        createEntryJudging({ entries, reranker, texts }, { asOf: filter.asOf, query }),
      );
      const shownHits = new Map(judged.page.map((each) => [each.hit.id, each]));
      await summaries?.settle();
      // What is too long for the answer anyway needs no marks.
      const highlighted = async (whole: string, left: number): Promise<string> =>
        2 * whole.length > left ? whole : texts.highlight(whole, query, signal);
      const { results, found, omitted, report } = await fitAnswer(
        entries,
        [...shownHits.keys()],
        {
          images: input.include_images,
          asOf: filter.asOf,
          ...(input.highlight ? {} : { textChars: truncationChars + 1 }),
          order: 'given',
          input,
          show: async (entry, left) => {
            const { hit, relevance = 0, range } = shownHits.get(entry.id) ?? {};
            return {
              ...showFound(entry, truncationChars),
              ...citationOf(entry, range),
              relevance,
              scores: {
                fts_score: hit?.found ?? 0,
                fts_rank: null,
                ...(reranker.provider ? { rerank_score: relevance } : {}),
              },
              ...(input.highlight ? { highlighted: await highlighted(entry.text, left) } : {}),
            };
          },
        },
        call,
      );
      const words = sought.length > 0 ? sought : wordsOf(asked);
      return {
        ...head,
        results,
        count: results.length,
        total: page.total,
        has_more: omitted.length > 0 || offset + judged.page.length < page.total,
        ...(explain ? { stats: stats(results.length, strict.plan) } : {}),
        ...clamped,
        ...report,
        ...nextOffset(offset, results, omitted),
        ...judgedFields(judged),
        ...(relaxed ? { relaxed } : {}),
        ...joinHints(
          modeRemark(text, input.mode),
          mendedHint(page.mended),
          relaxed ? await relaxedHint(entries, sought, signal) : undefined,
          report.hint,
          (
            await emptyHint(
              entries,
              [...found, ...omitted],
              { filter, offset, total: page.total, words, tryThis: words.length > 0 ? tryThis : tryExactly },
              signal,
            )
          ).hint,
        ),
        ...(await pastWarnings(entries, filter, 'search', signal)),
      };
    },
  });
}

async function relaxedHint(entries: EntryStore, words: readonly SoughtWord[], signal: AbortSignal): Promise<string> {
  const absent = await absentWords(entries, words, signal);
  const nowhere = absent.length > 0 ? ` No entry at all has ${listed(absent)}.` : '';
  return `No entry has all of ${listed(words.map(({ word }) => word))}; these have the most of them.${nowhere}`;
}

const tryExactly = 'The query has no word to look for; grep_context finds any characters.';
const tryThis =
  'Use fewer words, mode prefix for parts of words, or hybrid_search_context, which also finds by meaning.';
