import { editDistance } from '../words/edit-distance.ts';

/** Max edit distance, as a share of the word's length. More distant guesses only confuse. */
const shareMax = 0.4;

/** Returns the closest known word, if one is close enough. */
export function didYouMean(input: string, known: readonly string[]): string | undefined {
  const word = input.toLowerCase().slice(0, 40);
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    const isBeginning = word.length >= 3 && candidate.startsWith(word);
    const distance = isBeginning ? 0.5 : editDistance(word, candidate);
    const mayBe = distance <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) * shareMax));
    if (mayBe && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word: candidate, distance };
  }
  return best?.word;
}
