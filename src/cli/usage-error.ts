import { CarrelError } from '../base/errors.ts';
import { editDistance } from '../words/edit-distance.ts';

/** Creates the error for an invalid command line. */
export function usageError(message: string, options?: { cause: unknown }): CarrelError {
  return new CarrelError('invalid_usage', message, options);
}

/** Returns ` Did you mean …?` for messages. Empty if no candidate is similar. */
export function suggestion(word: string, candidates: readonly string[], prefix = ''): string {
  const closest = closestWord(word, candidates);
  return closest === undefined ? '' : ` Did you mean ${prefix}${closest}?`;
}

/** Max edit distance relative to the word's length. */
const distanceMax = 0.4;
const prefixDistance = 0.5;

export function closestWord(input: string, candidates: readonly string[]): string | undefined {
  const word = input.toLowerCase().slice(0, 40);
  let best: { word: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const isPrefix = word.length >= 3 && candidate.startsWith(word);
    const distance = isPrefix ? prefixDistance : editDistance(word, candidate);
    const isClose = distance <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) * distanceMax));
    if (isClose && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word: candidate, distance };
  }
  return best?.word;
}

/** Quotes a user's word for a message, shortened. */
export function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 57)}...` : word);
}
