import { editDistance } from '../../../words/edit-distance.ts';

/** Max edit distance relative to the longer name; worse guesses only confuse. */
const shareMax = 0.34;
/** Max characters compared, from the beginning: the cost grows with the product of both lengths. */
const comparedMax = 80;

/** Returns the known name that is closest, ignoring case, if any is close enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase().slice(0, comparedMax);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const candidate = name.toLowerCase().slice(0, comparedMax);
    const allowed = Math.max(1, Math.floor(Math.max(word.length, candidate.length) * shareMax));
    const isPart = word.length >= 3 && candidate.includes(word);
    if (!isPart && Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = candidate === word ? 0 : isPart ? 0.5 : editDistance(word, candidate);
    if ((isPart || distance <= allowed) && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { name, distance };
    }
  }
  return best?.name;
}
