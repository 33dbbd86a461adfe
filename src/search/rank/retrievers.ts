import type { ReadOptions } from '../../storage/transactions.ts';
import { coverageOf } from '../../words/ranking/rank-pool.ts';
import type { CorrectedWord, ScoredWords, ScoreWordsRequest } from '../../words/ranking/word-index.ts';
import { plainQuery, type WordQuery } from '../../words/word-query.ts';
import type { Meaning, MeaningAnswer } from '../meaning/meaning.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import { cosineSpanOf } from '../models/bundled-model.ts';
import { failureOf, idsMissingFrom, type SearchCorpus } from './corpus.ts';
import type { WordMatch } from './fusion.ts';

/** Search by words, over the passages that pass the caller's filter. Filters before ranking. */
export interface WordRetriever {
  /** Returns matches, best first. Only the first are scored; the others have `share` 0. */
  search(text: string, limit: number, signal?: AbortSignal): Promise<readonly WordMatch[]>;
  /** Scores the given passages and returns the query's terms in each. May omit passages without any. */
  score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<readonly WordMatch[]>;
}

export interface MeaningRetriever {
  search(text: string, limit: number, signal?: AbortSignal): Promise<MeaningFound>;
  /** Scores passages that the word search found. Omits passages without vectors. */
  score(found: MeaningFound, ids: readonly number[], signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
}

/** The matches for `text`, nearest first. */
interface MeaningFound extends Pick<MeaningAnswer, 'vector' | 'pending'> {
  readonly text: string;
  readonly matches: readonly MeaningMatch[];
  readonly span: number | undefined;
}

/** Creates a corpus from two retrievers, words and meaning. If one is undefined, only the other is searched. */
export function createRetrieverCorpus(retrievers: {
  readonly words: WordRetriever | undefined;
  readonly meaning: MeaningRetriever | undefined;
  /** Returns the replacements for misspelt words; see `CorpusMatches`. Called after a search. */
  readonly corrected?: () => readonly CorrectedWord[];
}): SearchCorpus {
  const { words: wordRetriever, meaning: meaningRetriever, corrected = () => [] } = retrievers;
  return {
    async find(text, depth, signal) {
      const search = async () => ({ found: await meaningRetriever?.search(text, depth, signal), failure: undefined });
      // The query is embedded while the words are searched.
      const [words = [], { found, failure }] = await Promise.all([
        wordRetriever?.search(text, depth, signal),
        search().catch((error: unknown) => ({ found: undefined, failure: failureOf(error) })),
      ]);
      return {
        words,
        failure,
        corrected: corrected(),
        async scoreMissing() {
          const scored = words.filter(({ share }) => share > 0);
          const unscored = found ? idsMissingFrom(scored, [...found.matches, ...words]) : [];
          const [scoredWords, wordOnly = []] = await Promise.all([
            wordRetriever?.score(text, unscored, signal),
            found && meaningRetriever?.score(found, idsMissingFrom(found.matches, words), signal),
          ]);
          const { matches: nearest = [], pending = 0, span } = found ?? {};
          return { words: scoredWords, meaning: found && { nearest, wordOnly, pending, span } };
        },
      };
    },
  };
}

type ScoreWords = (request: ScoreWordsRequest, options: ReadOptions) => Promise<ScoredWords>;

/** A store of passages or entries, with the caller's filter built in. */
interface WordSource {
  search(
    request: { readonly query: WordQuery; readonly limit: number; readonly offset: number },
    options: ReadOptions,
  ): Promise<{ readonly hits: readonly WordHit[]; readonly scoreMax: number }>;
  readonly scoreWords: ScoreWords;
}

interface WordHit {
  readonly id: number;
  readonly score: number;
  readonly coverage?: number | undefined;
}

/** Creates a search by words over one store. Scores are shares of the highest possible score. */
export function createWordRetriever(source: WordSource): WordRetriever {
  return {
    async search(text, limit, signal) {
      const { hits, scoreMax } = await source.search({ query: plainQuery(text), limit, offset: 0 }, { signal });
      return matchesOf(hits, scoreMax);
    },
    ...createWordScores((request, options) => source.scoreWords(request, options)),
  };
}

/** Creates a word retriever that only scores, for callers that already have the passages. */
export function createWordScores(
  scoreWords: ScoreWords,
  parse: (text: string) => WordQuery = plainQuery,
): Pick<WordRetriever, 'score'> {
  return {
    score: async (text, ids, signal) =>
      ids.length === 0 ? [] : wordMatches(await scoreWords({ query: parse(text), keys: ids }, { signal })),
  };
}

export function matchesOf(hits: readonly WordHit[], scoreMax: number): WordMatch[] {
  return hits.map(({ id, score, coverage }) => ({ id, share: shareOf(score, scoreMax), coverage }));
}

/** Converts scored passages to matches with their terms. */
export function wordMatches({ documents, scoreMax }: ScoredWords): WordMatch[] {
  return documents.map(({ key, score, terms }) => {
    const shares = terms.map(({ term, score: termScore, near }) => ({
      term,
      share: shareOf(termScore, scoreMax),
      ...(near ? { near } : {}),
    }));
    const covered = terms.reduce((sum, { highest }) => sum + highest, 0);
    return { id: key, share: shareOf(score, scoreMax), coverage: coverageOf(covered, scoreMax), terms: shares };
  });
}

function shareOf(score: number, scoreMax: number): number {
  return score / Math.max(scoreMax, Number.EPSILON);
}

interface MeaningSource<Filter> {
  readonly meaning: Pick<Meaning<Filter>, 'search'>;
  readonly filter: Filter | undefined;
  /** See `MeaningRequest`. */
  readonly waitMs?: number | undefined;
}

const neverAborted = new AbortController().signal;

/** Creates a search by meaning over the passages of one corpus that pass the filter. */
export function createMeaningRetriever<Filter>({ meaning, filter, waitMs }: MeaningSource<Filter>): MeaningRetriever {
  return {
    async search(text, limit, signal = neverAborted) {
      const { matches, vector, pending, model } = await meaning.search({ text, limit, filter, waitMs, signal });
      return { text, vector, pending, matches, span: cosineSpanOf(model) };
    },
    async score({ text, vector }, ids, signal = neverAborted) {
      if (ids.length === 0) return [];
      return (await meaning.search({ text, vector, limit: ids.length, allowed: [...ids], signal })).matches;
    },
  };
}
