import { fold } from './fold.ts';
import { currentLanguage, stemOf } from './language.ts';

/**
 * Tokenises text into the terms that are indexed and searched for. Documents and queries are tokenised in the same way, for
 * SQLite and for PostgreSQL. After a change here, increment `analysisVersion`, so that stored texts are tokenised
 * again.
 *
 * There are two streams of terms. `main` has the words in text order; phrases are matched against it. `extra` has other forms
 * of these words, so that queries with those forms match too:
 *
 *     text            main            extra
 *     running, went   running, went   run, go            (stem, when it differs)
 *     fooBar          foobar          foo bar            (parts of a camel-case name)
 *     multi-agent     multi agent     multiagent         (the joined word; also for foo_bar and o'brien)
 *     20.04, a.b.c    20 04, a b c    20.04, a.b.c       (the whole, with dots)
 *     C++, C#         c               c++, c#
 *     東京都庁         東京 京都 都庁 庁  東京都              (overlapping pairs; longer dictionary words)
 *     ภาษาไทย         ภาษา ไทย                           (dictionary words)
 *
 * Offsets are in UTF-16 units of the original text. Stops once `isEnough` returns true.
 */
export function analyse(text: string, emit: Emit, isEnough?: () => boolean): void {
  for (const match of text.matchAll(chunk)) {
    if (isEnough?.()) return;
    const word = match[0];
    if (plainAscii.test(word)) emitPlain(word, match.index, emit);
    else if (unspaced.test(word)) emitMixed(word, match.index, emit);
    else emitJoined(word, match.index, emit);
  }
}

type Emit = (term: string, start: number, end: number, isExtra: boolean) => void;

/** True for a character of a script that is indexed as bigrams (overlapping pairs): Chinese, Japanese or Korean. */
export function isBigramCharacter(character: string): boolean {
  return bigramCharacter.test(character);
}

/** Max length of a term. Longer ones, mostly encoded data, are truncated, because databases limit the length of a key. */
const termUnitsMax = 64;

const wordCharacter = '\\p{L}\\p{N}\\p{M}';
const chunk = new RegExp(
  `[${wordCharacter}]+(?:[._'’\\-][${wordCharacter}]+)*(?:\\+\\+|#(?![${wordCharacter}]))?|\\p{Extended_Pictographic}`,
  'gu',
);
const plainAscii = /^[a-zA-Z0-9]+$/;
const bigramScripts = '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}';
const dictionaryScripts = '\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
/** Scripts written without spaces. */
export const unspacedScripts = bigramScripts + dictionaryScripts;
const bigramCharacter = new RegExp(`^[${bigramScripts}]$`, 'u');
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');
const scriptRuns = new RegExp(
  `([${bigramScripts}]+)|([${dictionaryScripts}]+)|((?:(?![${bigramScripts}${dictionaryScripts}])[^])+)`,
  'gu',
);
const joiner = /[._'’-]/;
const camelBoundary = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const hangul = /^[\p{sc=Hangul}]+$/u;

/** Created on first use: its dictionaries take 10 ms to load. */
let segmenter: Intl.Segmenter | undefined;

/** Splits a run of Chinese, Japanese or Thai into dictionary words. */
export function dictionarySegments(run: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
  return segmenter.segment(run);
}

function emitPlain(word: string, start: number, emit: Emit): void {
  const end = start + word.length;
  const term = clip(word.toLowerCase());
  emit(term, start, end, false);
  emitForms(word, term, start, end, emit);
}

/** Emits the terms of a word in a script with spaces. Its parts may be joined by dots, dashes, underscores or apostrophes. */
function emitJoined(word: string, start: number, emit: Emit): void {
  const end = start + word.length;
  const suffix = word.endsWith('++') ? '++' : word.endsWith('#') ? '#' : '';
  const body = suffix === '' ? word : word.slice(0, -suffix.length);
  const parts = body.split(joiner);
  let offset = start;
  let last = '';
  parts.forEach((part, index) => {
    const isPossessive = index > 0 && /^s$/i.test(part) && /['’]/.test(word[offset - start - 1] ?? '');
    if (!isPossessive) {
      for (const term of foldedTerms(part)) {
        emit(term, offset, offset + part.length, false);
        emitForms(part, term, offset, offset + part.length, emit);
        last = term;
      }
    }
    offset += part.length + 1;
  });
  if (suffix !== '') emit(clip(last + suffix), start, end, true);
  if (parts.length > 1 && body.length <= termUnitsMax) {
    const whole = fold(body.replace(/['’]s$/i, '').replace(/[_'’-]/g, ''));
    if (whole !== last && /^[\p{L}\p{N}\p{M}.]+$/u.test(whole)) emit(clip(whole), start, end, true);
  }
}

/** Emits the terms of a chunk that mixes scripts with and without spaces. */
function emitMixed(word: string, start: number, emit: Emit): void {
  for (const match of word.matchAll(scriptRuns)) {
    const at = start + match.index;
    if (match[1] !== undefined) emitPairs(match[1], at, emit);
    else if (match[2] !== undefined) emitDictionaryWords(match[2], at, emit);
    else {
      for (const inner of match[0].matchAll(chunk)) emitJoined(inner[0], at + inner.index, emit);
    }
  }
}

/**
 * Emits overlapping pairs of characters, then the last character alone. That last term lets prefix
 * queries match, and phrases that continue after the run.
 */
function emitPairs(run: string, start: number, emit: Emit): void {
  const end = start + run.length;
  const folded = fold(run);
  // Folding joins half-width kana with their voicing marks. Offsets then differ, and each pair gets the range of the whole run.
  const hasSameOffsets = folded.length === run.length;
  let offset = 0;
  const characters = Array.from(folded);
  characters.forEach((character, index) => {
    const next = characters[index + 1] ?? '';
    const from = hasSameOffsets ? start + offset : start;
    const to = hasSameOffsets ? from + character.length + next.length : end;
    emit(character + next, from, to, false);
    offset += character.length;
  });
  if (characters.length < 3) return;
  if (hangul.test(run)) {
    emit(clip(folded), start, end, true);
    return;
  }
  for (const { segment, index } of dictionarySegments(run)) {
    if (segment.length > 2) emit(clip(fold(segment)), start + index, start + index + segment.length, true);
  }
}

function emitDictionaryWords(run: string, start: number, emit: Emit): void {
  for (const { segment, index, isWordLike } of dictionarySegments(run)) {
    if (isWordLike) emit(clip(fold(segment)), start + index, start + index + segment.length, false);
  }
}

function emitForms(word: string, term: string, start: number, end: number, emit: Emit): void {
  const stem = stemOf(term);
  if (stem !== term) emit(clip(stem), start, end, true);
  const accentedStem = word === term ? stem : accentedStemOf(word, term);
  if (accentedStem !== term && accentedStem !== stem) emit(clip(accentedStem), start, end, true);
  // Most words are lower case and have no such boundaries. Skipping them saves a third of the time.
  if (word === term || !camelBoundary.test(word)) return;
  for (const part of word.split(camelBoundary)) {
    const folded = fold(part);
    if (folded.length < 2) continue;
    const partStem = stemOf(folded);
    emit(clip(folded), start, end, true);
    if (partStem !== folded) emit(clip(partStem), start, end, true);
  }
}

/** Splits a folded word into terms: folding can add characters that are not part of words (½, ㏂). */
function foldedTerms(part: string): string[] {
  const folded = fold(part);
  return (folded.match(/[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]+/gu) ?? []).map(clip);
}

/** Stems a word with its accents, then folds the stem. The result may differ from the stem of the folded word. */
export function accentedStemOf(word: string, term: string): string {
  if (currentLanguage() === 'english' || plainAscii.test(word)) return stemOf(term);
  return fold(stemOf(word.normalize('NFC').toLowerCase())) || term;
}

function clip(term: string): string {
  return term.length <= termUnitsMax ? term : term.slice(0, termUnitsMax).toWellFormed().replaceAll('\ufffd', '');
}
