import { unspacedScripts } from './analyse.ts';
import { editDistance } from './edit-distance.ts';

export type Vocabulary = ReturnType<typeof createVocabulary>;

/** Min length of words for which two edits are allowed. */
const twoEditsFrom = 8;
/** Max corrections of a word, all with the same distance. */
const nearestMax = 16;

const shortest = 4;
const longest = 24;
const asciiTerm = new RegExp(`^[a-z]{${shortest},${longest}}$`);
const term = new RegExp(`^[\\p{L}\\p{M}]{${shortest},${longest}}$`, 'u');
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');

/** Returns the terms that can serve as corrections. */
export function spellingsIn(texts: Iterable<string>): Set<string> {
  const spellings = new Set<string>();
  const seen = new Set<string>();
  for (const text of texts) {
    for (const each of text.split(' ')) {
      if (seen.has(each)) continue;
      seen.add(each);
      if (asciiTerm.test(each) || (term.test(each) && !unspaced.test(each))) spellings.add(each);
    }
  }
  return spellings;
}

/** Creates a vocabulary of an index, to look up corrections for misspelt words. It takes about 100 bytes per word. */
export function createVocabulary() {
  const added = new Set<string>();
  /** By word length: the terms, and the letters of each as bits. */
  const byLength: { terms: string[]; letters: number[] }[] = [];

  return {
    get size(): number {
      return added.size;
    },
    add(terms: Iterable<string>): void {
      for (const each of terms) {
        if (added.has(each) || each === '') continue;
        added.add(each);
        byLength[each.length] ??= { terms: [], letters: [] };
        const group = byLength[each.length];
        group?.terms.push(each);
        group?.letters.push(lettersOf(each));
      }
    },
    /** Returns the terms with the smallest edit distance, 1 or 2. Those with the same first letter come first. */
    nearest(word: string): readonly string[] {
      const letters = lettersOf(word);
      let max = word.length < twoEditsFrom ? 1 : 2;
      let found: string[] = [];
      for (let length = word.length - max; length <= word.length + max; length += 1) {
        const group = byLength[length];
        group?.letters.forEach((otherLetters, index) => {
          // One edit removes at most one letter and adds at most one.
          if (countBits(letters & ~otherLetters) > max || countBits(otherLetters & ~letters) > max) return;
          const other = group.terms[index] ?? '';
          const distance = editDistance(word, other, max);
          if (distance > max) return;
          if (distance < max) found = [];
          max = distance;
          found.push(other);
        });
      }
      const sharesFirst = (other: string) => Number(other[0] === word[0]);
      return found.sort((a, b) => sharesFirst(b) - sharesFirst(a) || (a < b ? -1 : 1)).slice(0, nearestMax);
    },
  };
}

/** Returns a word's letters as bits. Letters may share a bit, because the bits only rule words out. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function countBits(value: number): number {
  let count = 0;
  for (let bits = value; bits !== 0; bits &= bits - 1) count += 1;
  return count;
}
