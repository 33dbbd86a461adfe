import { unspacedScripts } from './analyse.ts';
import { editDistance } from './edit-distance.ts';

/** The words of an index, to look up corrections for misspelt words. */
export interface Vocabulary {
  readonly size: number;
  add(terms: Iterable<string>): void;
  /**
   * Returns the terms with the smallest edit distance: at most 1 for words of up to seven letters, 2 for longer ones. Those
   * with the same first letter come first.
   */
  nearest(word: string): readonly string[];
}

const twoEditsFrom = 8;
/** Max corrections of a word. All have the same distance; if there are more, none of them is likely. */
const nearestMax = 16;

const shortest = 4;
const longest = 24;
const asciiTerm = new RegExp(`^[a-z]{${shortest},${longest}}$`);
const term = new RegExp(`^[\\p{L}\\p{M}]{${shortest},${longest}}$`, 'u');
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');

/** Returns the terms that can serve as corrections. */
export function spellingsIn(streams: Iterable<string>): Set<string> {
  const spellings = new Set<string>();
  const seen = new Set<string>();
  for (const stream of streams) {
    for (const each of stream.split(' ')) {
      if (seen.has(each)) continue;
      seen.add(each);
      if (asciiTerm.test(each) || (term.test(each) && !unspaced.test(each))) spellings.add(each);
    }
  }
  return spellings;
}

/** Words of one length, with the set of each word's letters as bits. */
interface Shelf {
  readonly terms: string[];
  readonly letters: number[];
}

/** Creates a vocabulary. It takes about 100 bytes per word; a search among 200,000 words takes a millisecond or two. */
export function createVocabulary(): Vocabulary {
  const known = new Set<string>();
  const shelves: Shelf[] = [];

  return {
    get size() {
      return known.size;
    },
    add(terms) {
      for (const each of terms) {
        if (known.has(each) || each === '') continue;
        known.add(each);
        shelves[each.length] ??= { terms: [], letters: [] };
        const shelf = shelves[each.length];
        shelf?.terms.push(each);
        shelf?.letters.push(lettersOf(each));
      }
    },
    nearest(word) {
      const letters = lettersOf(word);
      let max = word.length < twoEditsFrom ? 1 : 2;
      let found: string[] = [];
      for (let length = word.length - max; length <= word.length + max; length += 1) {
        const shelf = shelves[length];
        shelf?.letters.forEach((others, index) => {
          // One edit removes at most one letter and adds at most one.
          if (bits(letters & ~others) > max || bits(others & ~letters) > max) return;
          const other = shelf.terms[index] ?? '';
          const distance = editDistance(word, other, max);
          if (distance > max) return;
          if (distance < max) found = [];
          max = distance;
          found.push(other);
        });
      }
      const isAlike = (other: string) => Number(other[0] === word[0]);
      return found.sort((a, b) => isAlike(b) - isAlike(a) || (a < b ? -1 : 1)).slice(0, nearestMax);
    },
  };
}

/** Returns the set of a word's letters as bits. Letters may share a bit, because the bits only rule words out. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bits(of: number): number {
  let count = 0;
  for (let rest = of; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
