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
 * than its small letters and its stem, which are written as bytes; this does most of a text in a fifth of the time. All
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
    const end = pieceEnd(text, start);
    if (isEnglish && findPlainWord(text, start, end)) {
      if (wordEnd > wordStart) {
        writeWord(text);
        length += 1;
      }
    } else {
      analyse(text.slice(start, end), (term, _start, _end, isExtra) => {
        if (!isExtra) length += 1;
        (isExtra ? extra : main).write(term);
      });
    }
    start = end;
  }
  return { main: main.take(), extra: extra.take(), length };
}

/** Control characters part words as well. */
const space = 0x20;

function pieceEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) > space) end += 1;
  return end;
}

/** The word that was found last. */
let wordStart = 0;
let wordEnd = 0;
let isStemmable = false;

/**
 * Whether the piece holds at most one word, of ASCII letters and digits, with no capital but the first letter, and nothing
 * that would make it part of something longer. Signs around it do not count.
 */
function findPlainWord(text: string, start: number, end: number): boolean {
  wordStart = start;
  while (wordStart < end && kindOf(text, wordStart) === sign) wordStart += 1;
  wordEnd = wordStart;
  isStemmable = true;
  for (; wordEnd < end; wordEnd += 1) {
    const kind = kindOf(text, wordEnd);
    if (kind === small) continue;
    if (kind === digit) isStemmable = false;
    else if (kind !== capital || wordEnd > wordStart) break;
  }
  for (let at = wordEnd; at < end; at += 1) if (kindOf(text, at) !== sign) return false;
  return wordEnd - wordStart <= plainUnitsMax;
}

/** The analysis cuts longer terms. */
const plainUnitsMax = 64;
const stemUnitsMin = 3;

const [special, sign, small, capital, digit] = [0, 1, 2, 3, 4] as const;

/** What may be part of a term is special: plus and hash, as in C++ and C#, and everything beyond ASCII. */
const kinds = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return small;
  if (/[A-Z]/.test(character)) return capital;
  if (/[0-9]/.test(character)) return digit;
  return /[+#]/.test(character) ? special : sign;
});

function kindOf(text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? special;
}

function writeWord(text: string): void {
  const length = wordEnd - wordStart;
  for (let at = 0; at < length; at += 1) word[at] = text.charCodeAt(wordStart + at);
  if (kinds[word[0] ?? 0] === capital) word[0] = (word[0] ?? 0) | 0x20;
  main.writeBytes(word, length);
  if (!isStemmable || length < stemUnitsMin) return;
  const irregular = irregularOf(length);
  if (irregular !== undefined) {
    extra.writeBytes(irregular, irregular.length);
    return;
  }
  const last = word[length - 1];
  const stemLength = stemBytes(word, 0, length);
  // A stem of the same length differs in its last letter, if at all.
  if (stemLength < length || word[length - 1] !== last) extra.writeBytes(word, stemLength);
}

const word = new Uint8Array(plainUnitsMax);

/** The stem of an irregular form, if the word is one. */
function irregularOf(length: number): Uint8Array | undefined {
  if (length > irregularUnitsMax) return undefined;
  const found = irregularStems.get(hashOf(word, length));
  if (found === undefined || found.form.length !== length) return undefined;
  for (let at = 0; at < length; at += 1) if (found.form[at] !== word[at]) return undefined;
  return found.stem;
}

/** Of the bytes of a word; no two irregular forms have the same. A string for each word would take longer. */
function hashOf(bytes: Uint8Array, length: number): number {
  let hash = length;
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

const streamBytesMax = 1 << 20;

interface Stream {
  write(term: string): void;
  writeBytes(bytes: Uint8Array, length: number): void;
  /** What was written, and begins anew. */
  take(): string;
}

// One text is cut at a time, so the room for its terms is used again.
const main = createStream();
const extra = createStream();

function createStream(): Stream {
  let bytes = Buffer.allocUnsafe(4096);
  let used = 0;
  let text = '';
  const flush = () => {
    if (used === 0) return;
    text += bytes.toString('latin1', 0, used);
    used = 0;
  };
  return {
    write(term) {
      flush();
      text += ` ${term}`;
    },
    writeBytes(source, length) {
      if (used + length + 1 > bytes.length) {
        flush();
        bytes = Buffer.allocUnsafe(Math.min(2 * bytes.length, streamBytesMax));
      }
      bytes[used] = space;
      for (let at = 0; at < length; at += 1) bytes[used + 1 + at] = source[at] ?? 0;
      used += length + 1;
    },
    take() {
      flush();
      const taken = text === '' ? '' : `${text} `;
      text = '';
      return taken;
    },
  };
}
