import { type HybridDeps, type HybridMatch, searchHybrid } from '../../../search/rank/hybrid.ts';
import type { Evidence } from '../../../search/rank/relevance.ts';
import {
  createMeaningRetriever,
  createRetrieverCorpus,
  createWordRetriever,
  type MeaningRetriever,
  type WordRetriever,
} from '../../../search/rank/retrievers.ts';
import type { RerankingState } from '../../../search/rerank/reranker.ts';
import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { ScoredPage } from '../../../storage/entries/search-entries.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { createEntryJudging } from './entry-judging.ts';
import { distanceOf, neededFilter, pendingWarning, planOf, rankDepth } from './ranked-search.ts';
import { type Stats, startStats, type Warned } from './search-answer.ts';

interface HybridRequest extends RetrieverRequest {
  readonly limit: number;
  readonly offset: number;
  readonly rrfK: number;
  /** Include low-relevance entries. */
  readonly includesWeak: boolean;
}

interface HybridScores {
  rrf: number;
  rerank_score: number | null;
}

/** An entry's rank and score in each stage, or null if that stage did not find it. */
interface StageScores {
  fts_rank: number | null;
  semantic_rank: number | null;
  fts_score: number | null;
  semantic_distance: number | null;
}

interface EntryMatch {
  readonly id: number;
  readonly relevance: number;
  readonly scores: HybridScores;
  readonly stages: StageScores;
  /** The part of the text that was scored, else the part nearest to the query. */
  readonly range: readonly [start: number, end: number] | undefined;
  readonly evidence: Evidence | undefined;
  readonly replaces?: number | undefined;
  readonly replacedBy?: number | undefined;
}

interface HybridMatches {
  /** The matches on the page, best first. */
  readonly matches: readonly EntryMatch[];
  readonly modes: readonly ('fts' | 'semantic')[];
  /** Number of entries on all pages. */
  readonly ranked: number;
  readonly hasMore: boolean;
  /** Number of low-relevance entries left out of the page. */
  readonly omitted: number;
  readonly reranking?: RerankingState;
  readonly ftsCount: number;
  readonly semanticCount: number;
  readonly warnings: Warned;
  /** Misspelt words, with the words that were searched for instead. */
  readonly corrected: readonly CorrectedWord[];
  readonly stats: Record<string, unknown>;
}

/** Performs a hybrid search (search/rank/hybrid.ts). Scores and statistics have the format of mcp-context-server. */
export async function searchEntries(
  request: HybridRequest,
  settings: { words: boolean },
  parts: Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'reranker' | 'texts'>,
): Promise<HybridMatches> {
  const { text, limit, offset, rrfK, signal } = request;
  const { report, ...retrievers } = createEntryRetrievers(request, settings, parts);
  const found = await searchHybrid(
    // One more than shown, to detect further results.
    {
      text,
      limit: limit + 1,
      offset,
      depth: rankDepth,
      cutoff: request.includesWeak ? undefined : 'weak',
      signal,
    },
    { order: 'weighted', rrfK },
    { ...retrievers, judging: createEntryJudging(parts, { filter: request.filter }) },
  );
  if (found.failure && !settings.words) throw found.failure;
  const { words, meaning } = found.listed;
  const [ftsCount, semanticCount] = [words.length, meaning?.length ?? 0];
  const both = ftsCount + semanticCount - found.candidates;
  return {
    matches: found.matches.slice(0, limit).map((match) => ({
      id: match.id,
      relevance: match.relevance ?? 0,
      ...scoresOf(match),
      range: match.range ?? rangeOf(match.explanation.meaning?.window),
      evidence: match.evidence,
      replaces: match.replaces,
      replacedBy: match.replacedBy,
    })),
    hasMore: found.matches.length > limit,
    omitted: request.includesWeak ? 0 : Math.max(0, Math.min(limit, found.candidates - offset) - found.matches.length),
    ...(found.reranking ? { reranking: found.reranking } : {}),
    modes: [...(settings.words ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
    ranked: found.ranked,
    ftsCount,
    semanticCount,
    warnings: found.failure ? meaningFailed : pendingWarning(found.pending),
    corrected: report.corrected,
    stats: {
      fts_stats: report.wordStats ?? null,
      semantic_stats: report.meaningStats ?? null,
      fusion_stats: {
        rrf_k: rrfK,
        total_unique_documents: found.candidates,
        documents_in_both: both,
        documents_fts_only: ftsCount - both,
        documents_semantic_only: semanticCount - both,
      },
      adaptive_fts_mode: report.wordMode === undefined ? null : adaptiveMode(text),
    },
  };

  function scoresOf({ id, relevance = 0, explanation }: HybridMatch): Pick<EntryMatch, 'scores' | 'stages'> {
    const ftsRank = explanation.words?.rank;
    const near = explanation.meaning?.rank === undefined ? undefined : explanation.meaning;
    return {
      scores: { rrf: explanation.rrf, rerank_score: parts.reranker.provider ? relevance : null },
      stages: {
        fts_rank: ftsRank ?? null,
        semantic_rank: near?.rank ?? null,
        fts_score: ftsRank === undefined ? null : (report.wordScores.get(id) ?? null),
        semantic_distance: near ? distanceOf(near.cosine) : null,
      },
    };
  }
}

/** Converts a text range to a pair. */
export function rangeOf(window: { start: number; end: number } | undefined): [start: number, end: number] | undefined {
  return window && [window.start, window.end];
}

/** Returns the statistics of a search that was not performed. */
export function noStats(rrfK: number): HybridMatches['stats'] {
  const none = { total_unique_documents: 0, documents_in_both: 0, documents_fts_only: 0, documents_semantic_only: 0 };
  return {
    fts_stats: null,
    semantic_stats: null,
    fusion_stats: { rrf_k: rrfK, ...none },
    adaptive_fts_mode: null,
  };
}

const meaningFailed = {
  degraded: 'meaning_unavailable',
  warnings: ['Semantic search failed; these are keyword results only'],
};

/** Min words of a query that counts as a sentence. */
const orThreshold = 4;

/**
 * Returns the `adaptive_fts_mode` of mcp-context-server. `match`: entries with all words come first. `boolean`: the
 * query is a sentence, so entries need not contain all its words.
 */
function adaptiveMode(text: string): 'match' | 'boolean' {
  const words = text.match(/"[^"]*"|\S+/g)?.filter((word) => word.length > 1) ?? [];
  return words.length >= orThreshold ? 'boolean' : 'match';
}

interface RetrieverRequest {
  readonly text: string;
  readonly filter: EntryFilter;
  /** Number of filters, for the statistics. */
  readonly applied: number;
  readonly explain: boolean;
  /** See `MeaningRequest`. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Keyword and semantic search over entries, as `searchHybrid` needs them. They fill in `report` while they run. */
interface EntryRetrievers extends HybridDeps {
  readonly report: {
    /** BM25 scores, by entry id. */
    wordScores: ReadonlyMap<number, number>;
    /** Undefined if keyword search was not used. */
    wordMode: 'boolean' | undefined;
    wordStats: Stats | undefined;
    meaningStats: Stats | undefined;
    /** Misspelt words, with the words that were searched for instead. */
    corrected: readonly CorrectedWord[];
  };
}

type RetrieverParts = Pick<ContextParts, 'entries' | 'meaning' | 'backend'>;

function createEntryRetrievers(
  request: RetrieverRequest,
  { words }: { words: boolean },
  parts: RetrieverParts,
): EntryRetrievers {
  const { filter, applied, explain, signal } = request;
  const { entries, meaning, backend } = parts;
  const report: EntryRetrievers['report'] = {
    wordScores: new Map(),
    wordMode: undefined,
    wordStats: undefined,
    meaningStats: undefined,
    corrected: [],
  };
  let lastCorrected: readonly CorrectedWord[] = [];
  return {
    report,
    corpus: createRetrieverCorpus({
      words: words ? wordRetriever() : undefined,
      meaning: meaning && meaningRetriever(meaning),
      corrected: () => lastCorrected,
    }),
  };

  function wordRetriever(): WordRetriever {
    return createWordRetriever({
      async search({ limit }) {
        const stats = startStats(backend, applied);
        const { hits, scoreMax, plan, corrected } = await searchWords(limit);
        report.wordScores = new Map(hits.map(({ id, score }) => [id, score]));
        report.wordMode = 'boolean';
        lastCorrected = corrected;
        // Keep the corrections of the first search. It is repeated with the corrected words, which need no
        // correction.
        if (corrected.length > 0) report.corrected = corrected;
        report.wordStats = stats(hits.length, plan);
        return { hits, scoreMax };
      },
      scoreWords: (asked, options) => entries.scoreWords(asked, options),
    });
  }

  async function searchWords(limit: number): Promise<ScoredPage> {
    const query = plainQuery(request.text);
    return entries.searchWords({ query, filter, limit, offset: 0, counts: false, explain }, { signal });
  }

  function meaningRetriever(known: EntryMeaning): MeaningRetriever {
    const retriever = createMeaningRetriever<EntryFilter>({
      meaning: known,
      filter: neededFilter(filter),
      waitMs: request.waitMs,
    });
    return {
      ...retriever,
      async search(text, limit) {
        const stats = startStats(backend, applied);
        const plan = explain ? await planOf(entries, filter, signal) : undefined;
        const found = await retriever.search(text, limit, signal);
        report.meaningStats = stats(found.matches.length, plan);
        return found;
      },
    };
  }
}
