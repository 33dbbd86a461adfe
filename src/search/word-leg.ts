import type { ReadOptions } from '../storage/contracts/read-options.ts';
import { coverageOf } from '../words/ranking/rank-pool.ts';
import type { WeighedWords, WeighRequest } from '../words/ranking/word-index.ts';
import { plainQuery, type WordQuery } from '../words/word-query.ts';
import type { WordMatch } from './fusion.ts';

/** Search by words, over the passages that pass the caller's filter. Both legs filter before they rank. */
export interface WordLeg {
  /** The best first. Far down a long list the share may be 0: found, but not scored. */
  search(text: string, limit: number, signal?: AbortSignal): Promise<readonly WordMatch[]>;
  /** Scores given passages, with terms. Passages without any of the terms may be left out. */
  score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<readonly WordMatch[]>;
}

/** A store of passages or entries, with the caller's filter built in. */
export interface WordSource {
  search(request: WordSourceRequest, options: ReadOptions): Promise<WordSourcePage>;
  weigh(request: WeighRequest, options: ReadOptions): Promise<WeighedWords>;
}

export interface WordSourceRequest {
  readonly query: WordQuery;
  readonly limit: number;
  readonly offset: number;
}

export interface WordSourcePage {
  readonly hits: readonly { readonly id: number; readonly score: number; readonly coverage?: number | undefined }[];
  readonly scoreMax: number;
}

/** Search by words over one store, with scores as shares of the highest possible one. */
export function createWordLeg(source: WordSource, parse: (text: string) => WordQuery = plainQuery): WordLeg {
  return {
    async search(text, limit, signal) {
      const { hits, scoreMax } = await source.search({ query: parse(text), limit, offset: 0 }, { signal });
      return hits.map(({ id, score, coverage }) => ({ id, share: shareOf(score, scoreMax), coverage }));
    },
    ...createWordScores((request, options) => source.weigh(request, options), parse),
  };
}

/** Scores passages that were found in another way. */
export function createWordScores(
  weigh: WordSource['weigh'],
  parse: (text: string) => WordQuery = plainQuery,
): Pick<WordLeg, 'score'> {
  return {
    async score(text, ids, signal) {
      if (ids.length === 0) return [];
      const { weighed, scoreMax } = await weigh({ query: parse(text), keys: ids }, { signal });
      return weighed.map(({ key, score, terms }): WordMatch => {
        const shares = terms.map(({ term, score: own, near }) => ({
          term,
          share: shareOf(own, scoreMax),
          ...(near ? { near } : {}),
        }));
        const covered = terms.reduce((sum, { highest }) => sum + highest, 0);
        return { id: key, share: shareOf(score, scoreMax), coverage: coverageOf(covered, scoreMax), terms: shares };
      });
    },
  };
}

function shareOf(score: number, scoreMax: number): number {
  return score / Math.max(scoreMax, Number.EPSILON);
}
