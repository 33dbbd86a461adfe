import { type CarrelError, isCarrelError } from '../../base/errors.ts';
import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import type { WordMatch } from './fusion.ts';

/** The searched texts. Both legs of a search, words and meaning, filter before they rank. */
export interface SearchCorpus {
  find(text: string, depth: number, signal?: AbortSignal): Promise<Found>;
}

export interface Found {
  /** Best first. Far down a long list the share may be 0: found, but not scored. */
  readonly words: readonly WordMatch[];
  readonly failure: CarrelError | undefined;
  /** Replacements for misspelt words, likeliest first. */
  readonly corrected?: readonly CorrectedWord[];
  complete(): Promise<Completed>;
}

export interface Completed {
  /** With their terms. Passages without any of the terms may be omitted. Undefined if words are not searched. */
  readonly words: readonly WordMatch[] | undefined;
  /** Undefined if search by meaning was not requested, or failed. */
  readonly meaning: CompletedMeaning | undefined;
}

export interface CompletedMeaning {
  readonly listed: readonly MeaningMatch[];
  /** Cosines of passages that the word search found. Passages without vectors are omitted. */
  readonly more: readonly MeaningMatch[];
  readonly pending: number;
  readonly span: number | undefined;
}

/** A cancelled call must end, but an unavailable provider must not fail the keyword search. */
export function failureOf(error: unknown): CarrelError {
  if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return error;
  throw error;
}

/** The ids that were found but not scored yet, each once. */
export function missing(found: readonly { id: number }[], known: readonly { id: number }[]): number[] {
  const ids = new Set(found.map(({ id }) => id));
  for (const { id } of known) ids.delete(id);
  return [...ids];
}
