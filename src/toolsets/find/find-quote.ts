import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CitablePassage } from '../../tools/citable-texts.ts';

export interface FoundQuote {
  /** Of the passages given. */
  passage: number;
  /** In the text of that passage, in UTF-16 units. A quotation that goes on in the next passage ends with this one. */
  range: [number, number];
}

/** Reading a megabyte takes about 50 ms; other calls are answered in between. */
export const unitsPerTurn = 200_000;

/**
 * Words, numbers with their signs and points, what they count (3 € is not 3 $, and 5 % is not 5), and single characters of
 * scripts without spaces. Everything else (white space, punctuation, quotation marks, Markdown) may differ between a text and
 * a quotation of it. A number within a word counts too: Q3 is not Q4. The selector that many emoji end with is no word.
 */
const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?<![\p{L}\p{N}])[-+−])?\p{N}+(?:[.,:/]\p{N}+)*|(?:\p{L}|(?![\ufe00-\ufe0f\u20e3])\p{M})+|\p{Sc}(?=[\s*_`]{0,8}[-+−]?\p{N})|[\p{Sc}%％﹪٪‰](?<=\p{N}[\s*_`]{0,8}.)/gu;

/** For quotations without words, each sign counts as one: `≤`, emoji. Punctuation stands in every text. */
const signPattern = new RegExp(`${wordPattern.source}|\\p{S}`, 'gu');

/** A word that is broken at the end of a line is one word. */
const hyphenation = /(\p{Ll})-\r?\n\s*(?=\p{Ll})|\u00ad/gu;
const brokenWord = /^(?:-\r?\n\s*|\u00ad)$/u;

export function wordsOf(text: string, pattern = wordPattern): string[] {
  return text.normalize('NFKC').replace(hyphenation, '$1').toLowerCase().match(pattern) ?? [];
}

/** The parts of a quotation between its marks of omission (`…`, `...`, `[...]`), as words. */
function partsOf(quote: string, pattern: RegExp): string[] {
  return quote
    .split(/\[?(?:…|\.{3,})\]?/u)
    .map((part) => wordsOf(part, pattern).join(' '))
    .filter((part) => part !== '');
}

/** Whether there is anything to look for. */
export function isQuotable(quote: string): boolean {
  return partsOf(quote, signPattern).length > 0;
}

/** Looks for the words of a quotation, in order and without gaps but for its own marks of omission. */
export async function findQuote(
  quote: string,
  passages: readonly CitablePassage[],
  signal: AbortSignal,
): Promise<FoundQuote | undefined> {
  const pattern = partsOf(quote, wordPattern).length > 0 ? wordPattern : signPattern;
  const parts = partsOf(quote, pattern);
  const { words, starts } = await joinWords(passages, pattern, signal);
  let [first, end] = [-1, 0];
  for (const part of parts) {
    const at = indexIn(words, ` ${part} `, end);
    if (at === -1) return undefined;
    if (first === -1) first = at;
    end = at + part.length + 1;
  }
  if (first === -1) return undefined;
  const passage = starts.findLastIndex((start) => start <= first);
  const [from, to] = [first - (starts[passage] ?? 0), end - (starts[passage] ?? 0)];
  return { passage, range: await rangeOf(passages[passage]?.text ?? '', pattern, [from, to], signal) };
}

/**
 * `indexOf` in time that grows with the lengths, not with their product (Knuth, Morris, Pratt). That of the engine takes
 * seconds for a long quotation in a text that repeats itself.
 */
function indexIn(text: string, wanted: string, from: number): number {
  // For each place in what is wanted: how many of its first characters also end there.
  const borders = new Uint32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (matched > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (code === wanted.charCodeAt(matched)) matched += 1;
    if (matched === wanted.length) return at + 1 - matched;
  }
  return -1;
}

/** All words, with one blank before, between and after, and where those of each passage begin. */
async function joinWords(passages: readonly CitablePassage[], pattern: RegExp, signal: AbortSignal) {
  const starts: number[] = [];
  let words = ' ';
  for (const { text } of passages) {
    starts.push(words.length - 1);
    for (const part of inTurns(text)) {
      const found = wordsOf(part, pattern);
      if (found.length > 0) words += `${found.join(' ')} `;
      await nextTurn(undefined, { signal });
    }
  }
  return { words, starts };
}

/** A long text in parts that end at white space. */
function* inTurns(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + unitsPerTurn);
    const space = end < text.length ? text.lastIndexOf(' ', end) : -1;
    if (space > start) end = space;
    yield text.slice(start, end);
    start = end;
  }
}

/** Where the words from one offset to another of `joinWords` stand in the text itself. */
async function rangeOf(
  text: string,
  pattern: RegExp,
  [from, to]: readonly [number, number],
  signal: AbortSignal,
): Promise<[number, number]> {
  let [offset, start, end] = [0, 0, text.length];
  let turnEnd = unitsPerTurn;
  let before: number | undefined;
  let hasBegun = false;
  for (const { 0: word, index } of text.matchAll(pattern)) {
    if (index > turnEnd) {
      turnEnd = index + unitsPerTurn;
      await nextTurn(undefined, { signal });
    }
    const isContinued = before !== undefined && brokenWord.test(text.slice(before, index));
    if (isContinued) offset -= 1;
    if (!hasBegun && !isContinued && offset >= from) [start, hasBegun] = [index, true];
    offset += word.normalize('NFKC').toLowerCase().length + 1;
    before = index + word.length;
    if (offset <= to) end = before;
    else break;
  }
  return [start, end];
}
