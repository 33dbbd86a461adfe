import type { HybridDeps } from '../../../search/rank/hybrid.ts';
import {
  createMeaningRetriever,
  createRetrieverCorpus,
  createWordRetriever,
  type MeaningRetriever,
  type WordRetriever,
} from '../../../search/rank/retrievers.ts';
import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { ScoredPage } from '../../../storage/entries/search-entries.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { neededFilter, planOf } from './ranked-search.ts';
import { type Stats, startStats } from './search-answer.ts';

export interface RetrieverRequest {
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
export interface EntryRetrievers extends HybridDeps {
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

export function createEntryRetrievers(
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
