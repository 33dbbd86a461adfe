import { type HybridMatch, searchHybrid } from '../../../search/rank/hybrid.ts';
import { createMeaningRetriever, createRetrieverCorpus, createWordRetriever } from '../../../search/rank/retrievers.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import type { SearchRequest } from './answer-search.ts';
import { createRerankDeps } from './entry-reranking.ts';
import { distanceOf, nonEmptyFilter, pendingWarning, queryPlanOf, rankDepth } from './ranked-search.ts';
import { type SearchWarnings, type Stats, startStats } from './search-answer.ts';

interface HybridRequest extends SearchRequest {
  readonly rrfK: number;
  /** Include low-relevance entries. */
  readonly includesWeak: boolean;
  /** See `MeaningRequest`. */
  readonly waitMs?: number | undefined;
}

type SearchParts = Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'reranker' | 'texts'>;

/** Performs a hybrid search (search/rank/hybrid.ts). Scores and statistics have the format of mcp-context-server. */
export async function searchEntries(request: HybridRequest, settings: { words: boolean }, parts: SearchParts) {
  const { text, limit, offset, rrfK, includesWeak, signal } = request;
  const { corpus, report } = createEntryCorpus(request, settings, parts);
  const found = await searchHybrid(
    // Requests one more than shown, to detect further results.
    { text, limit: limit + 1, offset, depth: rankDepth, cutoff: includesWeak ? undefined : 'weak', rrfK, signal },
    { corpus, rerankDeps: createRerankDeps(parts, { filter: request.filter }) },
  );
  if (found.failure && !settings.words) throw found.failure;
  const { words, meaning } = found.retrieved;
  const [ftsCount, semanticCount] = [words.length, meaning?.length ?? 0];
  const both = ftsCount + semanticCount - found.candidates;
  const warnings: SearchWarnings = found.failure ? meaningFailed : pendingWarning(found.pending);
  return {
    /** The matches on the page, best first. */
    matches: found.matches.slice(0, limit).map((match) => ({
      id: match.id,
      relevance: match.relevance,
      ...scoresOf(match),
      /** The part of the text that was scored, else the part nearest to the query. */
      range: match.range ?? rangeOf(match.explanation.meaning?.window),
      evidence: match.evidence,
      replaces: match.replaces,
      replacedBy: match.replacedBy,
    })),
    hasMore: found.matches.length > limit,
    /** Number of low-relevance entries hidden on this page. */
    omitted: includesWeak ? 0 : Math.max(0, Math.min(limit, found.candidates - offset) - found.matches.length),
    reranking: found.reranking,
    modes: [...(settings.words ? ['fts'] : []), ...(meaning ? ['semantic'] : [])],
    /** Number of entries on all pages. */
    ranked: found.ranked,
    ftsCount,
    semanticCount,
    warnings,
    corrected: report.corrected,
    stats: {
      fts_stats: report.wordStats ?? null,
      semantic_stats: report.meaningStats ?? null,
      fusion_stats: fusionStats(rrfK, found.candidates, both, ftsCount - both, semanticCount - both),
      adaptive_fts_mode: report.wordStats === undefined ? null : adaptiveMode(text),
    },
  };

  /** Returns an entry's scores, and its rank and score in each stage that found it. */
  function scoresOf({ id, relevance, explanation }: HybridMatch) {
    const ftsRank = explanation.words?.rank;
    const semantic = explanation.meaning?.rank === undefined ? undefined : explanation.meaning;
    return {
      scores: { rrf: explanation.rrf, rerank_score: parts.reranker.provider ? relevance : null },
      stages: {
        fts_rank: ftsRank ?? null,
        semantic_rank: semantic?.rank ?? null,
        fts_score: ftsRank === undefined ? null : (report.wordScores.get(id) ?? null),
        semantic_distance: semantic ? distanceOf(semantic.cosine) : null,
      },
    };
  }
}

/** Creates the corpus for `searchHybrid`. The searches fill in `report` while they run. */
function createEntryCorpus(request: HybridRequest, settings: { words: boolean }, parts: SearchParts) {
  const { text, filter, applied, explain, signal } = request;
  const { entries, meaning, backend } = parts;
  const report = {
    /** BM25 scores by entry id. */
    wordScores: new Map<number, number>(),
    wordStats: undefined as Stats | undefined,
    meaningStats: undefined as Stats | undefined,
    /** Misspelt words, with the words that were searched for instead. */
    corrected: [] as readonly CorrectedWord[],
  };
  let lastCorrected: readonly CorrectedWord[] = [];
  const corpus = createRetrieverCorpus({
    words: settings.words
      ? createWordRetriever({ search: searchWords, scoreWords: entries.scoreWords.bind(entries) })
      : undefined,
    meaning: meaning && meaningRetriever(meaning),
    corrected: () => lastCorrected,
  });
  return { corpus, report };

  async function searchWords({ limit }: { limit: number }) {
    const stats = startStats(backend, applied);
    const search = { query: plainQuery(text), filter, limit, offset: 0, counts: false, explain };
    const { hits, scoreMax, plan, corrected } = await entries.searchWords(search, { signal });
    report.wordScores = new Map(hits.map(({ id, score }) => [id, score]));
    lastCorrected = corrected;
    // Keeps the corrections of the first search, because a second one with the corrected words has none.
    if (corrected.length > 0) report.corrected = corrected;
    report.wordStats = stats(hits.length, plan);
    return { hits, scoreMax };
  }

  function meaningRetriever(available: EntryMeaning): ReturnType<typeof createMeaningRetriever> {
    const retriever = createMeaningRetriever<EntryFilter>({
      meaning: available,
      filter: nonEmptyFilter(filter),
      waitMs: request.waitMs,
    });
    return {
      ...retriever,
      async search(query, limit) {
        const stats = startStats(backend, applied);
        const plan = explain ? await queryPlanOf(entries, filter, signal) : undefined;
        const found = await retriever.search(query, limit, signal);
        report.meaningStats = stats(found.matches.length, plan);
        return found;
      },
    };
  }
}

/** Converts a text range to a pair. */
export function rangeOf(window: { start: number; end: number } | undefined): [start: number, end: number] | undefined {
  return window && [window.start, window.end];
}

/** Returns the statistics of a search that was not performed. */
export function noStats(rrfK: number) {
  const fusion = fusionStats(rrfK, 0, 0, 0, 0);
  return { fts_stats: null, semantic_stats: null, fusion_stats: fusion, adaptive_fts_mode: null };
}

function fusionStats(rrfK: number, total: number, both: number, ftsOnly: number, semanticOnly: number) {
  return {
    rrf_k: rrfK,
    total_unique_documents: total,
    documents_in_both: both,
    documents_fts_only: ftsOnly,
    documents_semantic_only: semanticOnly,
  };
}

const meaningFailed = {
  degraded: 'meaning_unavailable',
  warnings: ['Semantic search failed; these are keyword results only'],
};

/** Min words of a query that counts as a sentence. */
const sentenceWordsMin = 4;

/**
 * Returns the `adaptive_fts_mode` of mcp-context-server. `match`: entries with all words come first. `boolean`: the
 * query is a sentence, so entries need not contain all its words.
 */
function adaptiveMode(text: string): 'match' | 'boolean' {
  const words = text.match(/"[^"]*"|\S+/g)?.filter((word) => word.length > 1) ?? [];
  return words.length >= sentenceWordsMin ? 'boolean' : 'match';
}
