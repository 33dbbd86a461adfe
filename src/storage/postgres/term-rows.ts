import { documentTermsOf } from '../../words/document-terms.ts';
import type { IndexedTexts } from '../../words/ranking/word-index.ts';
import { spellingsIn } from '../../words/vocabulary.ts';

/** What is stored of the words of several documents: lists with a member for each of them, as the statements take them. */
export interface TermRows {
  /** Both streams of title, heading and body. */
  readonly streams: readonly (readonly string[])[];
  /** The number of terms in each of the three. */
  readonly lengths: readonly (readonly number[])[];
  readonly vectors: readonly TermVectors[];
  /** Of all of them. */
  readonly spellings: readonly string[];
}

/** The distinct terms of a document, in the notation of the type `tsvector`. */
export interface TermVectors {
  readonly words: string;
  /** If there are too many for one: all of them, and `words` is the mark. */
  readonly more: readonly string[];
}

/** No term has a space. */
export const manyWordsMark = "'many words'";

export function termRowsOf(texts: readonly IndexedTexts[]): TermRows {
  const terms = texts.map(documentTermsOf);
  const fields = (['title', 'heading', 'body'] as const).map((field) => terms.map((document) => document[field]));
  const streams = fields.flatMap((field) => [field.map(({ main }) => main), field.map(({ extra }) => extra)]);
  return {
    streams,
    lengths: fields.map((field) => field.map(({ length }) => length)),
    vectors: texts.map((_, place) => vectorsOf(streams.map((stream) => stream[place] ?? ''))),
    spellings: [...spellingsIn(streams.flat())],
  };
}

/** A tsvector holds 1,048,575 bytes of terms. */
export const vectorBytesMax = 1_000_000;
/** With the 4 bytes that come with each term. PostgreSQL moves rows of more than 2,000 bytes out of their table. */
const partBytesMax = 1_800;
/** Of UTF-8, for a unit of UTF-16. */
const unitBytesMax = 3;

export function vectorsOf(streams: readonly string[]): TermVectors {
  const distinct = new Set(streams.flatMap((stream) => stream.split(' ')));
  distinct.delete('');
  const units = streams.reduce((sum, stream) => sum + stream.length, 0);
  if (units * unitBytesMax <= vectorBytesMax || bytesOf(distinct) <= vectorBytesMax) {
    return { words: [...distinct].map(quotedTerm).join(' '), more: [] };
  }
  return { words: manyWordsMark, more: inParts(distinct) };
}

function bytesOf(terms: Iterable<string>): number {
  let bytes = 0;
  for (const term of terms) bytes += Buffer.byteLength(term);
  return bytes;
}

function inParts(terms: Iterable<string>): string[] {
  const parts: string[] = [];
  let gathered: string[] = [];
  let bytes = 0;
  for (const term of terms) {
    const more = 4 + Buffer.byteLength(term);
    if (bytes + more > partBytesMax) {
      parts.push(gathered.join(' '));
      [gathered, bytes] = [[], 0];
    }
    gathered.push(quotedTerm(term));
    bytes += more;
  }
  return [...parts, gathered.join(' ')];
}

export function quotedTerm(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
