import { editDistance } from '../words/edit-distance.ts';

/** Further away than this, a guess only confuses. */
const shareMax = 0.4;

/** The known word that was most likely meant, if any. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const word = given.toLowerCase().slice(0, 40);
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    const isBeginning = word.length >= 3 && candidate.startsWith(word);
    const distance = isBeginning ? 0.5 : editDistance(word, candidate);
    const mayBe = distance <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) * shareMax));
    if (mayBe && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word: candidate, distance };
  }
  return best?.word;
}
