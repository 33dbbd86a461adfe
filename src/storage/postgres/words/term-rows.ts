import { documentTermsOf } from '../../../words/document-terms.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import { spellingsIn } from '../../../words/vocabulary.ts';
import { labelMark, quoted } from './tsquery.ts';

/** The words of several documents, as lists for one statement. Each list but `spellings` has one member per document. */
export interface TermRows {
  /** The `main` and `extra` terms of title, heading and body: six lists, in this order. */
  readonly streams: readonly (readonly string[])[];
  /** Number of terms in title, heading and body. */
  readonly lengths: readonly (readonly number[])[];
  /** Labels and distinct terms of each document, as `tsvector` text. */
  readonly tsvectors: readonly string[];
  /** Distinct words of all documents together. */
  readonly spellings: readonly string[];
}

export function termRowsOf(texts: readonly IndexedTexts[]): TermRows {
  const terms = texts.map(documentTermsOf);
  const fields = (['title', 'heading', 'body'] as const).map((field) => terms.map((document) => document[field]));
  const streams = fields.flatMap((field) => [field.map(({ main }) => main), field.map(({ extra }) => extra)]);
  return {
    streams,
    lengths: fields.map((field) => field.map(({ length }) => length)),
    tsvectors: texts.map(({ labels }, index) =>
      tsvectorOf(
        streams.map((stream) => stream[index] ?? ''),
        labels,
      ),
    ),
    spellings: [...spellingsIn(streams.flat())],
  };
}

/** Max bytes of lexemes per tsvector. PostgreSQL's own limit is 1,048,575. */
export const tsvectorBytesMax = 1_000_000;

/** Returns the text of a tsvector: labels and distinct terms. Texts of several megabytes are found only by their first words. */
export function tsvectorOf(streams: readonly string[], labels: readonly string[] = []): string {
  const lexemes = new Set(labels.map((label) => `${labelMark}${label}`));
  const lists = streams.map((stream) => stream.split(' '));
  const longest = Math.max(...lists.map(({ length }) => length));
  for (let index = 0; index < longest; index += 1) {
    for (const list of lists) lexemes.add(list[index] ?? '');
  }
  lexemes.delete('');
  const quotedLexemes: string[] = [];
  let bytes = 0;
  for (const lexeme of lexemes) {
    bytes += Buffer.byteLength(lexeme);
    if (bytes > tsvectorBytesMax) break;
    quotedLexemes.push(quoted(lexeme));
  }
  return quotedLexemes.join(' ');
}
