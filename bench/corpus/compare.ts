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
  const referenceWords = wordsOf(reference, withNumbers);
  if (referenceWords.length < wordsMin) return undefined;
  const textWords = wordsOf(text, withNumbers);
  return {
    recall: shareOf(referenceWords, textWords),
    order: shareOf(pairsOf(referenceWords), pairsOf(textWords)),
    words: referenceWords.length,
  };
}

/** Min words of a reference. */
const wordsMin = 5;

/** Splits a text into lower-case words and, with `withNumbers`, numbers. Normalises ligatures and accents. */
function wordsOf(text: string, withNumbers: boolean): string[] {
  const normalized = text.normalize('NFKC').replaceAll('\u00ad', '').toLowerCase();
  return normalized.match(withNumbers ? /[\p{L}\p{M}]{2,}|\p{N}+/gu : /[\p{L}\p{M}]{2,}/gu) ?? [];
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`);
}

/** Returns the share of the reference's terms that the text has. */
function shareOf(reference: readonly string[], text: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const term of text) counts.set(term, (counts.get(term) ?? 0) + 1);
  let common = 0;
  for (const term of reference) {
    const remaining = counts.get(term) ?? 0;
    if (remaining === 0) continue;
    counts.set(term, remaining - 1);
    common += 1;
  }
  return reference.length === 0 ? 1 : common / reference.length;
}
