import * as z from 'zod';
import { cosineSpanOf } from '../../../search/models/bundled-model.ts';
import { rerankPage } from '../../../search/rank/rerank-page.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { allOf, quotedIn } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { answerSearch, type SearchOutcome, type SearchRequest } from '../search/answer-search.ts';
import { createRerankDeps, relevanceFields } from '../search/entry-reranking.ts';
import { rangeOf } from '../search/hybrid-entries.ts';
import {
  distanceOf,
  nonEmptyFilter,
  pendingWarning,
  queryPlanOf,
  rankDepth,
  vectorWaitMs,
} from '../search/ranked-search.ts';
import { entryResultFields, searchOutput, startStats } from '../search/search-answer.ts';
import { queryInput, searchInput, weakInput } from '../search/search-input.ts';

type Parts = Pick<ContextParts, 'entries' | 'backend' | 'truncationChars' | 'reranker' | 'summaries' | 'texts'>;

export function createSemanticSearchContextTool(meaning: EntryMeaning, parts: Parts): Tool {
  return defineTool({
    name: 'semantic_search_context',
    title: 'Semantic Search Context',
    description:
      'Searches memory by meaning alone, nearest first, for questions worded differently than the entries. hybrid_search_context also searches by words.',
    effect: 'read',
    resultFields: entryResultFields,
    input: z.object({ query: queryInput, ...searchInput({ limit: 5 }), ...weakInput }),
    output: searchOutput('query, model, weak_omitted?, reranking?'),
    run: (input, call) =>
      answerSearch(
        {
          requestFields: { query: input.query, model: meaning.model },
          ifInvalid: { stats: (applied) => startStats(parts.backend, applied)(0, undefined) },
          search: (request) => searchMeaning(request, input.include_weak ?? false, meaning, parts),
        },
        input,
        parts,
        call,
      ),
  });
}

async function searchMeaning(
  { text, filter, limit, offset, applied, explain, signal }: SearchRequest,
  includesWeak: boolean,
  meaning: EntryMeaning,
  { entries, backend, reranker, texts }: Parts,
): Promise<SearchOutcome> {
  const stats = startStats(backend, applied);
  const plan = explain ? await queryPlanOf(entries, filter, signal) : undefined;
  const search = { text, limit: rankDepth, filter: nonEmptyFilter(filter), waitMs: vectorWaitMs, signal };
  const [{ matches: nearest, pending, model }, quoted] = await Promise.all([
    meaning.search(search),
    quotedEntries(text, filter, entries, signal),
  ]);
  const matches = quoted ? nearest.filter(({ id }) => quoted.has(id)) : nearest;
  // One more than shown, to detect further entries.
  const reranked = await rerankPage(
    { text, limit: limit + 1, offset, cutoff: includesWeak ? undefined : 'weak', signal },
    matches.map((match) => ({ ...match, ...scoreByCosine(match.cosine, matches[0]?.cosine, model) })),
    createRerankDeps({ entries, reranker, texts }, { filter }),
  );
  const page = reranked.page.slice(0, limit);
  const weak = includesWeak ? 0 : Math.max(0, Math.min(limit, matches.length - offset) - page.length);
  return {
    hits: page.map(({ hit, relevance, range, replaces, replacedBy }) => ({
      replaces,
      replacedBy,
      id: hit.id,
      relevance,
      range: range ?? rangeOf(hit.window),
      scores: {
        semantic_distance: distanceOf(hit.rawCosine),
        ...(reranker.provider ? { rerank_score: relevance } : {}),
      },
      stages: { semantic_rank: null },
    })),
    hasMore: reranked.page.length > limit,
    weak,
    relevanceFields: relevanceFields({ ...reranked, omitted: weak }),
    stats: (rows) => stats(rows, plan),
    empty: { total: reranked.included },
    warnings: pendingWarning(pending),
  };
}

/** Returns the ids of entries with all quoted phrases, or undefined if the query has none. */
async function quotedEntries(
  text: string,
  filter: EntryFilter,
  entries: EntryStore,
  signal: AbortSignal,
): Promise<ReadonlySet<number> | undefined> {
  const { phrases } = quotedIn(text);
  if (phrases.length === 0) return undefined;
  const page = { filter, limit: rankDepth, offset: 0, counts: false, explain: false };
  const { hits } = await entries.searchWords({ query: allOf(phrases), ...page }, { signal });
  return new Set(hits.map(({ id }) => id));
}

/** Scores a hit by how far its cosine is below the best one, as hybrid search does. */
function scoreByCosine(cosine: number, best = cosine, model: string) {
  const span = cosineSpanOf(model);
  const score = 1 - (best - cosine) / (span ?? defaultSpan);
  return { score, rawCosine: cosine, cosine: span === undefined ? undefined : cosine };
}

/** Cosine span assumed for models that were not measured; see `cosineSpanOf`. */
const defaultSpan = 0.25;
