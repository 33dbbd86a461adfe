import type { HybridDeps, MeaningLeg } from '../../../search/hybrid.ts';
import { createMeaningLeg } from '../../../search/meaning-leg.ts';
import { createWordLeg, type WordLeg } from '../../../search/word-leg.ts';
import type { ScoredPage } from '../../../storage/contracts/entries.ts';
import type { EntryFilter } from '../../../storage/contracts/entry-filter.ts';
import type { MendedWord } from '../../../words/ranking/word-index.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts, EntryMeaning } from '../context-parts.ts';
import { neededFilter, planOf } from './ranked-search.ts';
import { type Stats, startStats } from './search-answer.ts';

export interface LegsRequest {
  readonly text: string;
  readonly filter: EntryFilter;
  /** How many filters are applied, for the statistics. */
  readonly applied: number;
  readonly explain: boolean;
  /** See Meaning. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** The legs of the search core over entries. `told` is filled in while they search. */
export interface EntryLegs extends HybridDeps {
  readonly told: {
    /** BM25 scores, by entry id. */
    wordScores: ReadonlyMap<number, number>;
    /** Undefined where words were not searched. See adaptive-mode for what is told. */
    wordMode: 'boolean' | undefined;
    wordStats: Stats | undefined;
    meaningStats: Stats | undefined;
    /** What was searched for instead of misspelt words. */
    mended: readonly MendedWord[];
  };
}

/** More of a text tells neither whether it is code nor whether it repeats another. */
const textChars = 4_000;

type LegParts = Pick<ContextParts, 'entries' | 'meaning' | 'backend'>;

export function createEntryLegs(request: LegsRequest, { words }: { words: boolean }, parts: LegParts): EntryLegs {
  const { filter, applied, explain, signal } = request;
  const { entries, meaning, backend } = parts;
  const told: EntryLegs['told'] = {
    wordScores: new Map(),
    wordMode: undefined,
    wordStats: undefined,
    meaningStats: undefined,
    mended: [],
  };
  return {
    told,
    words: words ? wordLeg() : undefined,
    meaning: meaning && meaningLeg(meaning),
    async newerFirst(ids) {
      const found = await entries.get({ ids, images: false, asOf: filter.asOf, textChars }, { signal });
      return new Map(found.map(({ id, text }) => [id, text]));
    },
  };

  function wordLeg(): WordLeg {
    return createWordLeg({
      async search({ limit }) {
        const stats = startStats(backend, applied);
        const { hits, scoreMax, plan, mended } = await searchWords(limit);
        told.wordScores = new Map(hits.map(({ id, score }) => [id, score]));
        told.wordMode = 'boolean';
        told.mended = mended;
        told.wordStats = stats(hits.length, plan);
        return { hits, scoreMax };
      },
      weigh: (asked, options) => entries.weighWords(asked, options),
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
      texts: async (ids) => (await entries.get({ ids, images: false, textChars }, { signal })).map(({ text }) => text),
    });
    return {
      ...leg,
      async search(text, limit) {
        const stats = startStats(backend, applied);
        const plan = explain ? await planOf(entries, filter, signal) : undefined;
        const found = await leg.search(text, limit, signal);
        told.meaningStats = stats(found.matches.length, plan);
        return found;
      },
    };
  }
}
