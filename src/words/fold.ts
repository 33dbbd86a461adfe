/**
 * Removes differences of width, ligatures, case and accents: `Ｃａｆé`, `CAFE` and `café` become the same word. Only marks
 * that a writer may omit are dropped: Latin, Greek and Cyrillic accents, Arabic and Hebrew points.
 */
export function fold(word: string): string {
  if (ascii.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(droppedMarks, '')
    .normalize('NFKC')
    .replace(replacedLetters, (letter) => replacements.get(letter) ?? letter);
}

const ascii = /^[\x00-\x7f]*$/;

const droppedMarks = new RegExp(
  `[${[
    '\\u0300-\\u036f', // combining diacritics
    '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7', // Hebrew points
    '\\u0610-\\u061a\\u064b-\\u065f\\u0670', // Arabic points
    '\\u0640', // tatweel, which only stretches a word
    '\\ufe00-\\ufe0f', // variation selectors
  ].join('')}]`,
  'g',
);

/** Replacements for letters that Unicode does not decompose. */
const replacements = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ł', 'l'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ς', 'σ'],
]);
const replacedLetters = new RegExp(`[${[...replacements.keys()].join('')}]`, 'g');
