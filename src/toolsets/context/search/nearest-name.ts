import { editDistance } from '../../../words/edit-distance.ts';

/** Further away than this, a guess only confuses. */
const shareMax = 0.34;
/** Longer names are compared by their beginnings: the distance costs the product of the lengths. */
const comparedMax = 80;

/** The name that was most likely meant, in any case of letters, if there is one. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const word = given.toLowerCase().slice(0, comparedMax);
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
