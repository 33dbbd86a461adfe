/**
 * Combines accents with their letters. TeX's older fonts have no accented letters, so a PDF draws the accent and then the
 * letter: `pr´ec´edentes`. An accent stays separate if Unicode lacks the accented letter.
 */
export function composeAccents(text: string): string {
  return text.replace(accentedLetter, (match, accent: string, letter: string) => {
    const base = dottedLetters.get(letter) ?? letter;
    const composed = `${base}${combining[accents.indexOf(accent)] ?? ''}`.normalize('NFC');
    return composed.length === 1 ? composed : match;
  });
}

/** Dotless letters, which TeX uses below an accent, and the letters that Unicode combines with one. */
const dottedLetters = new Map([
  ['\u0131', 'i'],
  ['\u0237', 'j'],
]);

/** Accents as separate characters, and as combining characters in the same order. */
const accents = '\u00b4\u0060\u00a8\u02c6\u02dc\u00b8\u02c7\u02da\u02d8\u02d9\u02dd\u00af';
const combining = '\u0301\u0300\u0308\u0302\u0303\u0327\u030c\u030a\u0306\u0307\u030b\u0304';

/** An accent and its letter. A grave accent must be inside a word, because it is also used as a quotation mark. */
const accentedLetter =
  /([\u00b4\u00a8\u02c6\u02dc\u00b8\u02c7\u02da\u02d8\u02d9\u02dd\u00af]|(?<=\p{L})\u0060(?=[aeiouAEIOU]\p{L}?))([\p{L}])/gu;
