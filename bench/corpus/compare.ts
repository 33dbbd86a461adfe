/** Compares our text with the text that another program extracted from the same file (the reference). */
export interface Comparison {
  /** Share of the reference's words that our text has. A word that occurs twice counts twice. */
  readonly recall: number;
  /** Share of the reference's adjacent word pairs that are adjacent in our text. */
  readonly order: number;
  readonly words: number;
}

/** Compares the two texts. Returns undefined if the reference is too short. */
export function compare(text: string, reference: string, withNumbers: boolean): Comparison | undefined {
  const theirs = wordsOf(reference, withNumbers);
  if (theirs.length < wordsMin) return undefined;
  const ours = wordsOf(text, withNumbers);
  return {
    recall: shareOf(theirs, ours),
    order: shareOf(pairsOf(theirs), pairsOf(ours)),
    words: theirs.length,
  };
}

/** Min words of a reference. */
const wordsMin = 5;

/** Splits a text into lower-case words and, with `withNumbers`, numbers. Normalises ligatures and accents. */
function wordsOf(text: string, withNumbers: boolean): string[] {
  const plain = text.normalize('NFKC').replaceAll('\u00ad', '').toLowerCase();
  return plain.match(withNumbers ? /[\p{L}\p{M}]{2,}|\p{N}+/gu : /[\p{L}\p{M}]{2,}/gu) ?? [];
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`);
}

function shareOf(theirs: readonly string[], ours: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const each of ours) counts.set(each, (counts.get(each) ?? 0) + 1);
  let found = 0;
  for (const each of theirs) {
    const left = counts.get(each) ?? 0;
    if (left === 0) continue;
    counts.set(each, left - 1);
    found += 1;
  }
  return theirs.length === 0 ? 1 : found / theirs.length;
}
