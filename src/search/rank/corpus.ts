import { type CarrelError, isCarrelError } from '../../base/errors.ts';
import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import type { WordMatch } from './fusion.ts';

/** The searched texts. A search has two retrievers, by words and by meaning. Both filter before they rank. */
export interface SearchCorpus {
  find(text: string, depth: number, signal?: AbortSignal): Promise<CorpusMatches>;
}

export interface CorpusMatches {
  /** Matches by words, best first. Only the first are scored; the others have `share` 0. */
  readonly words: readonly WordMatch[];
  readonly failure: CarrelError | undefined;
  /** Replacements for misspelt words, likeliest first. */
  readonly corrected?: readonly CorrectedWord[];
  /** Lets each retriever score the passages that only the other found. */
  scoreMissing(): Promise<CrossScores>;
}

export interface CrossScores {
  /** Word scores, with the query's terms in each passage. May omit passages without any. Undefined if words are not searched. */
  readonly words: readonly WordMatch[] | undefined;
  /** Undefined if search by meaning was not requested, or failed. */
  readonly meaning: MeaningScores | undefined;
}

export interface MeaningScores {
  /** The nearest passages, best first. */
  readonly nearest: readonly MeaningMatch[];
  /** Cosines of passages that only the word search found. Omits passages without vectors. */
  readonly wordOnly: readonly MeaningMatch[];
  /** Number of texts that have no vectors yet. */
  readonly pending: number;
  /** Cosines this far below the best count as 0; see `FusionSettings`. Undefined if unknown for the model. */
  readonly span: number | undefined;
}

/** Returns the error if keyword search can continue without the provider. Otherwise, as for a cancelled call, throws it. */
export function failureOf(error: unknown): CarrelError {
  if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return error;
  throw error;
}

/** Returns the ids of `candidates` that `matches` lacks, each once. */
export function idsMissingFrom(matches: readonly { id: number }[], candidates: readonly { id: number }[]): number[] {
  const ids = new Set(candidates.map(({ id }) => id));
  for (const { id } of matches) ids.delete(id);
  return [...ids];
}
