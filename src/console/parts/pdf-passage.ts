/** The part of a piece of text that belongs to the passage, as fractions of the piece's width. */
export interface MarkedRun {
  index: number;
  from: number;
  to: number;
}

/** Min consecutive letters that must match. Shorter sequences occur everywhere. */
const matchMin = 16;

/**
 * Finds a passage on a page. The stored text can have other line breaks, hyphens and punctuation than the page, and another
 * order. So only letters and digits are compared: all of them together if possible, else in short overlapping pieces.
 */
export function findPassage(pieces: readonly string[], passage: string): MarkedRun[] {
  const target = lettersOf(passage);
  if (target === '') return [];
  const letters = pieces.map(lettersOf);
  const page = letters.join('');
  const size = page.includes(target) ? target.length : Math.min(matchMin, target.length);
  const sequences = new Set(Array.from({ length: target.length - size + 1 }, (_, at) => target.slice(at, at + size)));
  const isMarked = new Uint8Array(page.length);
  for (let at = 0; at + size <= page.length; at += 1) {
    if (sequences.has(page.slice(at, at + size))) isMarked.fill(1, at, at + size);
  }
  let start = 0;
  return letters.flatMap(({ length }, index) => {
    const marks = isMarked.subarray(start, start + length);
    start += length;
    const [first, last] = [marks.indexOf(1), marks.lastIndexOf(1)];
    return first < 0 ? [] : [{ index, from: first / length, to: (last + 1) / length }];
  });
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
