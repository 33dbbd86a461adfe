import { analyse } from './analyse.ts';
import { irregularEnglish } from './irregular-english.ts';
import { currentLanguage } from './language.ts';
import { stemBytes, stemEnglish } from './stem-english.ts';

/**
 * The analysed terms of one field as the databases store them: ` term term term `, with a space at both ends, so that a
 * term, a beginning and a phrase are found by searching for a substring. Empty when there are none.
 */
export interface TermText {
  readonly main: string;
  readonly extra: string;
  /** Number of terms in `main`. */
  readonly length: number;
}

/**
 * No term reaches across white space, so each piece between is cut by itself. A piece that is one plain word needs no more
 * than its small letters and its stem, which are written as bytes; this does most of a text in a seventh of the time. All
 * other pieces go through the analysis.
 */
export function termText(text: string): TermText {
  const isEnglish = currentLanguage() === 'english';
  let length = 0;
  for (let start = 0; start < text.length; ) {
    if (text.charCodeAt(start) <= space) {
      start += 1;
      continue;
    }
    if (isEnglish && takePlainWord(text, start)) {
      if (wordLength > 0) {
        length += 1;
        writeStem();
      }
      start = pieceEnd;
      continue;
    }
    const end = endOfPiece(text, start);
    analyse(text.slice(start, end), (term, _start, _end, isExtra) => {
      if (!isExtra) length += 1;
      writeTerm(isExtra ? extra : main, term);
    });
    start = end;
  }
  return { main: take(main), extra: take(extra), length };
}

/** Control characters part words as well. */
const space = 0x20;

function endOfPiece(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) > space) end += 1;
  return end;
}

/** What `takePlainWord` found: the word is what was written to `main` last. */
let pieceEnd = 0;
let wordLength = 0;
let wordHash = 0;
let isStemmable = false;

/**
 * Whether the piece holds at most one word, of ASCII letters and digits, with no capital but the first letter, and nothing
 * that would make it part of something longer. Signs around it do not count. The word is written as it is read.
 */
function takePlainWord(text: string, start: number): boolean {
  makeRoom(main);
  const { bytes, used } = main;
  const end = text.length;
  let at = start;
  let length = 0;
  let hash = 0;
  let letters = true;
  while (at < end && kindOf(text, at) === sign) at += 1;
  for (; at < end && length <= plainUnitsMax; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < kinds.length ? kinds[code] : special;
    if (kind === digit) letters = false;
    else if (kind !== small && (kind !== capital || length > 0)) break;
    const byte = kind === capital ? code | 0x20 : code;
    length += 1;
    bytes[used + length] = byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  while (at < end && kindOf(text, at) === sign) at += 1;
  if (length > plainUnitsMax || (at < end && text.charCodeAt(at) > space)) return false;
  pieceEnd = at;
  wordLength = length;
  wordHash = hash;
  isStemmable = letters;
  if (length === 0) return true;
  bytes[used] = space;
  main.used = used + 1 + length;
  return true;
}

/** The analysis cuts longer terms. */
const plainUnitsMax = 64;
const stemUnitsMin = 3;

const [special, sign, small, capital, digit] = [0, 1, 2, 3, 4] as const;

/** What may be part of a term is special: plus and hash, as in C++ and C#, and everything beyond ASCII. So is a space. */
const kinds = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return small;
  if (/[A-Z]/.test(character)) return capital;
  if (/[0-9]/.test(character)) return digit;
  return code <= space || /[+#]/.test(character) ? special : sign;
});

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < kinds.length ? (kinds[code] ?? special) : special;
}

function writeStem(): void {
  if (!isStemmable || wordLength < stemUnitsMin) return;
  if (wordLength > knownUnitsMax) {
    writeBytes(extra, word, 0, stemWord());
    return;
  }
  const slot = ((wordHash ^ (wordHash >>> 15)) & (knownWords - 1)) * slotBytes;
  if (!isKnown(slot)) learn(slot);
  writeBytes(extra, known, slot + stemAt, known[slot + 1] ?? 0);
}

/**
 * The stems of the words that were met last, by the hash of the word: the lengths of the word and of its stem, the word,
 * and its stem, which is empty where it is the word. Few words make up most of a text.
 */
const knownWords = 65_536;
const knownUnitsMax = 15;
const [knownAt, stemAt, slotBytes] = [2, 17, 32] as const;
const known = new Uint8Array(knownWords * slotBytes);

function isKnown(slot: number): boolean {
  const { bytes, used } = main;
  const start = used - wordLength;
  if (known[slot] !== wordLength) return false;
  for (let at = 0; at < wordLength; at += 1) if (known[slot + knownAt + at] !== bytes[start + at]) return false;
  return true;
}

function learn(slot: number): void {
  const { bytes, used } = main;
  known[slot] = wordLength;
  copy(bytes, used - wordLength, known, slot + knownAt, wordLength);
  const stemLength = stemWord();
  known[slot + 1] = stemLength;
  copy(word, 0, known, slot + stemAt, stemLength);
}

/** Puts the stem into `word`. Its length; 0 if it is no other than the word. */
function stemWord(): number {
  const length = wordLength;
  copy(main.bytes, main.used - length, word, 0, length);
  const irregular = irregularOf(length);
  if (irregular !== undefined) {
    word.set(irregular);
    return irregular.length;
  }
  const last = word[length - 1];
  const stemLength = stemBytes(word, 0, length);
  // A stem of the same length differs in its last letter, if at all.
  return stemLength < length || word[length - 1] !== last ? stemLength : 0;
}

const word = new Uint8Array(plainUnitsMax);

/** The stem of an irregular form, if the word is one. */
function irregularOf(length: number): Uint8Array | undefined {
  if (length > irregularUnitsMax) return undefined;
  const found = irregularStems.get(wordHash);
  if (found === undefined || found.form.length !== length) return undefined;
  for (let at = 0; at < length; at += 1) if (found.form[at] !== word[at]) return undefined;
  return found.stem;
}

/** Of the bytes of a word; no two irregular forms have the same. A string for each word would take longer. */
function hashOf(bytes: Uint8Array, length: number): number {
  let hash = 0;
  for (let at = 0; at < length; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash;
}

const irregularUnitsMax = Math.max(...[...irregularEnglish.keys()].map((form) => form.length));
const irregularStems = new Map(
  [...irregularEnglish].map(([form, regular]) => {
    const bytes = Buffer.from(form);
    return [hashOf(bytes, bytes.length), { form: bytes, stem: Buffer.from(stemEnglish(regular)) }];
  }),
);

/** The terms of one field on their way: what was written as text, and the bytes behind it. */
interface Stream {
  text: string;
  bytes: Buffer;
  used: number;
}

const streamBytesMax = 1 << 20;

// One text is cut at a time, so the room for its terms is used again.
const main: Stream = { text: '', bytes: Buffer.allocUnsafe(4096), used: 0 };
const extra: Stream = { text: '', bytes: Buffer.allocUnsafe(4096), used: 0 };

/** For a plain word and the space before it. */
function makeRoom(stream: Stream): void {
  if (stream.used + plainUnitsMax + 2 <= stream.bytes.length) return;
  flush(stream);
  stream.bytes = Buffer.allocUnsafe(Math.min(2 * stream.bytes.length, streamBytesMax));
}

/** Nothing, if the length is 0. */
function writeBytes(stream: Stream, source: Uint8Array, start: number, length: number): void {
  if (length === 0) return;
  makeRoom(stream);
  const { bytes, used } = stream;
  bytes[used] = space;
  copy(source, start, bytes, used + 1, length);
  stream.used = used + 1 + length;
}

/** A few bytes: a view of them, which `set` would take, costs more. */
function copy(from: Uint8Array, start: number, to: Uint8Array, toStart: number, length: number): void {
  for (let at = 0; at < length; at += 1) to[toStart + at] = from[start + at] ?? 0;
}

function writeTerm(stream: Stream, term: string): void {
  flush(stream);
  stream.text += ` ${term}`;
}

function flush(stream: Stream): void {
  if (stream.used === 0) return;
  stream.text += stream.bytes.toString('latin1', 0, stream.used);
  stream.used = 0;
}

/** What was written, and begins anew. */
function take(stream: Stream): string {
  if (stream.used > 0) {
    stream.bytes[stream.used] = space;
    stream.used += 1;
    flush(stream);
  } else if (stream.text !== '') stream.text += ' ';
  const taken = stream.text;
  stream.text = '';
  return taken;
}
