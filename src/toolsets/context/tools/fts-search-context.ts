import * as z from 'zod';
import { rerankPage, rerankRange } from '../../../search/rank/rerank-page.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { currentLanguage } from '../../../words/language.ts';
import { quotedIn } from '../../../words/word-query.ts';
import type { ContextParts } from '../context-parts.ts';
import { answerSearch, type SearchOutcome, type SearchRequest } from '../search/answer-search.ts';
import { createRerankDeps, relevanceFields } from '../search/entry-reranking.ts';
import { correctedHint, wordsOf } from '../search/hints.ts';
import {
  absentWords,
  modeHint,
  type QueryWord,
  queryWords,
  quoteWords,
  relaxedWordsMin,
  type SearchMode,
  searchModes,
  searchMostWords,
  wordQueryOf,
} from '../search/query-words.ts';
import { entryResultFields, searchOutput, startStats } from '../search/search-answer.ts';
import { queryInput, searchInput } from '../search/search-input.ts';

type Parts = Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranker' | 'summaries' | 'texts'>;

export function createFtsSearchContextTool(parts: Parts): Tool {
  return defineTool({
    name: 'fts_search_context',
    title: 'Full-Text Search Context',
    description:
      'Searches memory by words alone: names, codes, exact terms. hybrid_search_context also searches by meaning.',
    effect: 'read',
    resultFields: entryResultFields,
    input: z.object({
      query: queryInput,
      mode: z
        .enum(searchModes)
        .default('match')
        .describe(
          'match: all words (any inflected form), else most of them; word* is a prefix. prefix: all words as prefixes. phrase: adjacent words. boolean: AND, OR, NOT, "phrases", parentheses.',
        ),
      ...searchInput({ limit: 5 }),
      highlight: z.boolean().default(false).describe('Add the text with <mark> around matches.'),
    }),
    output: searchOutput('query, mode, language, total, relaxed?, reranking?'),
    run: (input, call) =>
      answerSearch(
        {
          requestFields: { query: input.query, mode: input.mode, language: currentLanguage() },
          ifInvalid: { stats: (applied) => startStats(parts.backend, applied)(0, undefined) },
          search: (request) => searchWords(request, input, parts),
        },
        input,
        parts,
        call,
      ),
  });
}

async function searchWords(
  { text, filter, limit, offset, applied, explain, signal }: SearchRequest,
  { mode, highlight }: { mode: SearchMode; highlight: boolean },
  { entries, backend, reranker, texts }: Parts,
): Promise<SearchOutcome> {
  const stats = startStats(backend, applied);
  const exactQuery = wordQueryOf(text, mode);
  const rankedRange = rerankRange({ limit, offset });
  const exact = await entries.searchWords({ query: exactQuery, filter, ...rankedRange, explain }, { signal });
  const terms = mode === 'match' ? queryWords(text) : [];
  const relaxedPage =
    exact.total === 0 && terms.length >= relaxedWordsMin && quotedIn(text).phrases.length === 0
      ? await searchMostWords(entries, terms, { filter, ...rankedRange }, signal)
      : undefined;
  const relaxed = relaxedPage !== undefined && relaxedPage.total > 0;
  const page = relaxed ? relaxedPage : exact;
  const query = relaxed ? relaxedPage.query : exactQuery;
  const ranked = page.hits.map(({ id, score, coverage }) => ({
    id,
    score: score / (page.scoreMax || 1),
    ftsScore: score,
    coverage,
  }));
  const reranked = await rerankPage(
    { text, limit, offset: offset - rankedRange.offset, before: rankedRange.offset, signal },
    ranked,
    createRerankDeps({ entries, reranker, texts }, { filter, query }),
  );
  const words = terms.length > 0 ? terms : wordsOf(exactQuery);
  return {
    hits: reranked.page.map(({ hit, relevance, range, replaces, replacedBy }) => ({
      replaces,
      replacedBy,
      id: hit.id,
      relevance,
      range,
      scores: { fts_score: hit.ftsScore, ...(reranker.provider ? { rerank_score: relevance } : {}) },
      stages: { fts_rank: null },
    })),
    hasMore: offset + reranked.page.length < page.total,
    total: page.total,
    relevanceFields: { ...relevanceFields(reranked), ...(relaxed ? { relaxed } : {}) },
    stats: (rows) => stats(rows, exact.plan),
    hints: [
      modeHint(text, mode),
      correctedHint(page.corrected),
      relaxed ? await relaxedHint(entries, terms, signal) : undefined,
    ],
    empty: { total: page.total, words, advice: words.length > 0 ? broaderSearch : exactSearch },
    // Skips texts that won't fit into the answer.
    highlight: highlight
      ? async (whole, bytesLeft) => (2 * whole.length > bytesLeft ? whole : texts.highlight(whole, query, signal))
      : undefined,
  };
}

async function relaxedHint(entries: EntryStore, words: readonly QueryWord[], signal: AbortSignal): Promise<string> {
  const absent = await absentWords(entries, words, signal);
  const absentHint = absent.length > 0 ? ` No entry contains ${quoteWords(absent)}.` : '';
  return `No entry contains all of ${quoteWords(words.map(({ word }) => word))}; these contain the most.${absentHint}`;
}

const exactSearch = 'The query contains no searchable word; grep_context finds any characters.';
const broaderSearch =
  'Use fewer words, mode prefix for parts of words, or hybrid_search_context, which also searches by meaning.';
