import { analyse } from './analyse.ts';
import { irregularEnglish } from './irregular-english.ts';
import { currentLanguage } from './language.ts';
import { stemBytes, stemEnglish } from './stem-english.ts';

/**
 * The terms of one field as the databases store them: ` term term term `, with a space at both ends, so that a term, a
 * prefix and a phrase are found as substrings. Empty if there are none.
 */
export interface TermText {
  readonly main: string;
  readonly extra: string;
  /** Number of terms in `main`. */
  readonly length: number;
}

/**
 * No term spans white space, so each piece between is tokenised by itself. A piece that is one plain word only needs
 * lower-casing and stemming, which is done on bytes: a seventh of the time for most of a text. All other pieces go through
 * the full analysis.
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

/** Control characters separate words as well. */
const space = 0x20;

function endOfPiece(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) > space) end += 1;
  return end;
}

/** What `takePlainWord` found. The word itself is what was written to `main` last. */
let pieceEnd = 0;
let wordLength = 0;
let wordHash = 0;
let isStemmable = false;

/**
 * Whether the piece has at most one word, of ASCII letters and digits, with no capital except the first letter, and nothing
 * that would make it part of a longer term. Punctuation around it is ignored. The word is written as it is read.
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

/** The analysis truncates longer terms. */
const plainUnitsMax = 64;
const stemUnitsMin = 3;

const [special, sign, small, capital, digit] = [0, 1, 2, 3, 4] as const;

/** Special is what may be part of a term, like plus and hash in C++ and C#, everything beyond ASCII, and the space. */
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
 * A cache of stems, by the hash of the word: the lengths of the word and its stem, the word, and the stem, which is empty if
 * it equals the word. A few words make up most of a text.
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

/** Puts the stem into `word` and returns its length, or 0 if it equals the word. */
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

/** A hash of the bytes of a word that is different for all irregular forms. Making a string of each word would be slower. */
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

/** The terms of one field while they are written: the text so far, and the bytes after it. */
interface Stream {
  text: string;
  bytes: Buffer;
  used: number;
}

const streamBytesMax = 1 << 20;

// Texts are tokenised one at a time, so the buffers are reused.
const main: Stream = { text: '', bytes: Buffer.allocUnsafe(4096), used: 0 };
const extra: Stream = { text: '', bytes: Buffer.allocUnsafe(4096), used: 0 };

/** Enough for a plain word and the space before it. */
function makeRoom(stream: Stream): void {
  if (stream.used + plainUnitsMax + 2 <= stream.bytes.length) return;
  flush(stream);
  stream.bytes = Buffer.allocUnsafe(Math.min(2 * stream.bytes.length, streamBytesMax));
}

/** Writes nothing if the length is 0. */
function writeBytes(stream: Stream, source: Uint8Array, start: number, length: number): void {
  if (length === 0) return;
  makeRoom(stream);
  const { bytes, used } = stream;
  bytes[used] = space;
  copy(source, start, bytes, used + 1, length);
  stream.used = used + 1 + length;
}

/** For a few bytes a loop is faster than making the view that `set` takes. */
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

/** Returns what was written and starts over. */
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
