import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CitablePassage } from '../../tools/citable-texts.ts';

interface FoundQuote {
  /** Index of the passage. */
  passage: number;
  /** Range in UTF-16 units, clipped to this passage if the quotation continues in the next. */
  range: [number, number];
}

/** UTF-16 units of a long text that are processed without a pause for other calls. */
export const sliceUnits = 200_000;

/**
 * Matches what must be equal in a text and its quotation: words, numbers with sign and decimal point, units of
 * numbers ($3 is not €3, 5 % is not 5), numbers inside words (Q3 is not Q4), and single characters of scripts without
 * spaces. White space, punctuation, quotation marks, Markdown and emoji variation selectors may differ.
 */
const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?<![\p{L}\p{N}])[-+−])?\p{N}+(?:[.,:/]\p{N}+)*|(?:\p{L}|(?![\ufe00-\ufe0f\u20e3])\p{M})+|\p{Sc}(?=[\s*_`]{0,8}[-+−]?\p{N})|[\p{Sc}%％﹪٪‰](?<=\p{N}[\s*_`]{0,8}.)/gu;

/** Also matches each symbol (`≤`, emoji) as a word. Used for quotations without words. */
const signPattern = new RegExp(`${wordPattern.source}|\\p{S}`, 'gu');

/** Hyphens that split a word at a line break, and soft hyphens. */
const hyphenation = /(\p{Ll})-\r?\n\s*(?=\p{Ll})|\u00ad/gu;
const brokenWord = /^(?:-\r?\n\s*|\u00ad)$/u;

function wordsOf(text: string, pattern = wordPattern): string[] {
  return text.normalize('NFKC').replace(hyphenation, '$1').toLowerCase().match(pattern) ?? [];
}

/** Returns the words of each part between omission marks (`…`, `...`, `[...]`). */
function partsOf(quote: string, pattern: RegExp): string[] {
  return quote
    .split(/\[?(?:…|\.{3,})\]?/u)
    .map((part) => wordsOf(part, pattern).join(' '))
    .filter((part) => part !== '');
}

/** Returns true if the quotation has anything to search for. */
export function isQuotable(quote: string): boolean {
  return partsOf(quote, signPattern).length > 0;
}

/** Finds a quotation's words in the passages, in order and without gaps, except at its omission marks. */
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
 * Works like `indexOf`, but in linear time (Knuth-Morris-Pratt). The built-in method takes seconds for a long
 * quotation in a repetitive text.
 */
function indexIn(text: string, pattern: string, from: number): number {
  // Failure table: the length of the longest prefix of `pattern` that also ends at each position.
  const prefixLengths = new Uint32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at += 1) {
    while (matched > 0 && pattern.charCodeAt(at) !== pattern.charCodeAt(matched))
      matched = prefixLengths[matched - 1] ?? 0;
    if (pattern.charCodeAt(at) === pattern.charCodeAt(matched)) matched += 1;
    prefixLengths[at] = matched;
  }
  matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== pattern.charCodeAt(matched)) matched = prefixLengths[matched - 1] ?? 0;
    if (code === pattern.charCodeAt(matched)) matched += 1;
    if (matched === pattern.length) return at + 1 - matched;
  }
  return -1;
}

/** Joins the words of all passages with single spaces. Also returns the offset at which each passage starts. */
async function joinWords(passages: readonly CitablePassage[], pattern: RegExp, signal: AbortSignal) {
  const starts: number[] = [];
  let words = ' ';
  for (const { text } of passages) {
    starts.push(words.length - 1);
    for (const part of slicesOf(text)) {
      const found = wordsOf(part, pattern);
      if (found.length > 0) words += `${found.join(' ')} `;
      await yieldToEventLoop(undefined, { signal });
    }
  }
  return { words, starts };
}

/** Splits a long text at spaces. */
function* slicesOf(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + sliceUnits);
    const space = end < text.length ? text.lastIndexOf(' ', end) : -1;
    if (space > start) end = space;
    yield text.slice(start, end);
    start = end;
  }
}

/** Converts a range in the joined words of a passage to a range in its text. */
async function rangeOf(
  text: string,
  pattern: RegExp,
  [from, to]: readonly [number, number],
  signal: AbortSignal,
): Promise<[number, number]> {
  let [offset, start, end] = [0, 0, text.length];
  let sliceEnd = sliceUnits;
  let previousEnd: number | undefined;
  let hasStarted = false;
  for (const { 0: word, index } of text.matchAll(pattern)) {
    if (index > sliceEnd) {
      sliceEnd = index + sliceUnits;
      await yieldToEventLoop(undefined, { signal });
    }
    const isContinued = previousEnd !== undefined && brokenWord.test(text.slice(previousEnd, index));
    if (isContinued) offset -= 1;
    if (!hasStarted && !isContinued && offset >= from) [start, hasStarted] = [index, true];
    offset += word.normalize('NFKC').toLowerCase().length + 1;
    previousEnd = index + word.length;
    if (offset <= to) end = previousEnd;
    else break;
  }
  return [start, end];
}

interface NearestSentence {
  /** Index of the passage. */
  passage: number;
  text: string;
  /** Number of the quotation's distinct words in the sentence. */
  shared: number;
  /** Number of the quotation's distinct words. */
  of: number;
}

/** Min share of the quotation's words that a sentence must have. */
const shareMin = 0.5;
const sentenceCharsMax = 400;

/** Finds the sentence that shares the most words with a quotation that is not in the text. */
export async function findNearestSentence(
  quote: string,
  passages: readonly CitablePassage[],
  signal: AbortSignal,
): Promise<NearestSentence | undefined> {
  const quoted = new Set(wordsOf(quote));
  let nearest: NearestSentence | undefined;
  let unitsSincePause = 0;
  for (const [passage, { text }] of passages.entries()) {
    for (const sentence of sentencesOf(text)) {
      unitsSincePause += sentence.length;
      if (unitsSincePause > sliceUnits) {
        await yieldToEventLoop(undefined, { signal });
        unitsSincePause = 0;
      }
      const shared = new Set(wordsOf(sentence).filter((word) => quoted.has(word))).size;
      if (shared > (nearest?.shared ?? 0)) nearest = { passage, text: sentence, shared, of: quoted.size };
    }
  }
  return nearest !== undefined && nearest.shared >= quoted.size * shareMin ? nearest : undefined;
}

function* sentencesOf(text: string): Iterable<string> {
  for (const [sentence] of text.matchAll(/[^.!?。！？\n]+[.!?。！？]*/gu)) {
    const trimmed = sentence.trim();
    for (let start = 0; start < trimmed.length; start += sentenceCharsMax) {
      yield trimmed.slice(start, start + sentenceCharsMax);
    }
  }
}
