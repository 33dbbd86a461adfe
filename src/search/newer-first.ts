import { analyse } from '../words/analyse.ts';
import { stemOf } from '../words/language.ts';
import { questionWords } from '../words/question-words.ts';
import type { FusedMatch } from './fusion.ts';

/** The texts of these passages; deleted ones are left out. */
export type TextsOf = (ids: readonly number[], signal?: AbortSignal) => Promise<ReadonlyMap<number, string>>;

/** Matches that are compared with one another: the first ones, whichever page is asked for. */
const comparedMax = 20;

/**
 * Texts say nearly the same if they share this part of their words, question words apart. Of 20 statements with one that
 * replaced them it takes 15 for alike, at no loss on LoCoMo; at .3 it would be 16, and LoCoMo would lose .0025.
 */
const alikeFrom = 0.4;
const sharedMin = 2;
/** Long texts share many words without saying the same. */
const unitsMax = 1_000;

/**
 * Where two matches say nearly the same, the newer one comes first: in a memory it has replaced the other. It moves up to the
 * place of the older one, and those between move down; the scores stay with the places. Newer is what has the higher id.
 */
export async function newerFirst(
  fused: readonly FusedMatch[],
  textsOf: TextsOf,
  signal?: AbortSignal,
): Promise<FusedMatch[]> {
  const best = fused.slice(0, comparedMax);
  const texts = await textsOf(
    best.map(({ id }) => id),
    signal,
  );
  const words = new Map([...texts].map(([id, text]) => [id, wordsOf(text)]));
  const isAlike = (left: FusedMatch, right: FusedMatch) => sayTheSame(words.get(left.id), words.get(right.id));
  const ordered = [...best];
  for (let place = 0; place < ordered.length; place += 1) {
    for (let older = ordered[place]; older; ) {
      const above = older;
      const from = ordered.findIndex((match, index) => index > place && match.id > above.id && isAlike(match, above));
      const [newer] = from === -1 ? [] : ordered.splice(from, 1);
      if (newer === undefined) break;
      const explanation = { ...newer.explanation, newerThan: above.id };
      older = { ...newer, explanation };
      ordered.splice(place, 0, older);
    }
  }
  const placed = ordered.map((match, place) => {
    const { score, rank } = best[place] ?? match;
    return { ...match, score, rank };
  });
  return [...placed, ...fused.slice(comparedMax)];
}

function wordsOf(text: string): Set<string> | undefined {
  if (text.length > unitsMax) return undefined;
  const words = new Set<string>();
  analyse(text, (term, _start, _end, isExtra) => {
    if (!isExtra && !questionWords.has(term)) words.add(stemOf(term));
  });
  return words;
}

function sayTheSame(left: ReadonlySet<string> | undefined, right: ReadonlySet<string> | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  let shared = 0;
  for (const word of left) if (right.has(word)) shared += 1;
  return shared >= sharedMin && shared / (left.size + right.size - shared) >= alikeFrom;
}
