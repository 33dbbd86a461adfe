import type { HybridDeps } from '../../../search/rank/hybrid.ts';
import {
  createLegCorpus,
  createMeaningLeg,
  createWordLeg,
  type MeaningLeg,
  type WordLeg,
} from '../../../search/rank/legs.ts';
import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { ScoredPage } from '../../../storage/entries/search-entries.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { neededFilter, planOf } from './ranked-search.ts';
import { type Stats, startStats } from './search-answer.ts';

export interface LegsRequest {
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
export interface EntryLegs extends HybridDeps {
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

type LegParts = Pick<ContextParts, 'entries' | 'meaning' | 'backend'>;

export function createEntryLegs(request: LegsRequest, { words }: { words: boolean }, parts: LegParts): EntryLegs {
  const { filter, applied, explain, signal } = request;
  const { entries, meaning, backend } = parts;
  const report: EntryLegs['report'] = {
    wordScores: new Map(),
    wordMode: undefined,
    wordStats: undefined,
    meaningStats: undefined,
    corrected: [],
  };
  let lastCorrected: readonly CorrectedWord[] = [];
  return {
    report,
    corpus: createLegCorpus({
      words: words ? wordLeg() : undefined,
      meaning: meaning && meaningLeg(meaning),
      corrected: () => lastCorrected,
    }),
  };

  function wordLeg(): WordLeg {
    return createWordLeg({
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

  function meaningLeg(known: EntryMeaning): MeaningLeg {
    const leg = createMeaningLeg<EntryFilter>({
      meaning: known,
      filter: neededFilter(filter),
      waitMs: request.waitMs,
    });
    return {
      ...leg,
      async search(text, limit) {
        const stats = startStats(backend, applied);
        const plan = explain ? await planOf(entries, filter, signal) : undefined;
        const found = await leg.search(text, limit, signal);
        report.meaningStats = stats(found.matches.length, plan);
        return found;
      },
    };
  }
}
