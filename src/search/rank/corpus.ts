import { type CarrelError, isCarrelError } from '../../base/errors.ts';
import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import type { WordMatch } from './fusion.ts';

/** What is searched. Both legs filter before they rank. */
export interface SearchCorpus {
  find(text: string, depth: number, signal?: AbortSignal): Promise<Found>;
}

export interface Found {
  /** The best first. Far down a long list the share may be 0: found, but not scored. */
  readonly words: readonly WordMatch[];
  readonly failure: CarrelError | undefined;
  /** What the words were searched for instead of misspelt ones, the likeliest first. */
  readonly corrected?: readonly CorrectedWord[];
  complete(): Promise<Completed>;
}

export interface Completed {
  /** With their terms. Passages without any of the terms may be left out. Undefined if words are not searched. */
  readonly words: readonly WordMatch[] | undefined;
  /** Undefined if search by meaning was not asked, or failed. */
  readonly meaning: CompletedMeaning | undefined;
}

export interface CompletedMeaning {
  readonly listed: readonly MeaningMatch[];
  /** What the words found. Passages that are not embedded yet are left out. */
  readonly more: readonly MeaningMatch[];
  /** How much of the nearest matches is program code, from 0 to 1. */
  readonly codeShare: number;
  readonly pending: number;
  readonly span: number | undefined;
}

/** A cancelled call must end, but a provider that is down or busy must not fail the search by words. */
export function failureOf(error: unknown): CarrelError {
  if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return error;
  throw error;
}

/** The ids that were found and are not known yet, each once. */
export function missing(found: readonly { id: number }[], known: readonly { id: number }[]): number[] {
  const ids = new Set(found.map(({ id }) => id));
  for (const { id } of known) ids.delete(id);
  return [...ids];
}
