import { documentTermsOf } from '../../words/document-terms.ts';
import type { IndexedTexts } from '../../words/ranking/word-index.ts';
import { spellingsIn } from '../../words/vocabulary.ts';

/** What is stored of the words of several documents: lists with a member for each of them, as the statements take them. */
export interface TermRows {
  /** Both streams of title, heading and body. */
  readonly streams: readonly (readonly string[])[];
  /** The number of terms in each of the three. */
  readonly lengths: readonly (readonly number[])[];
  /** The distinct terms of each, in the notation of the type `tsvector`. */
  readonly vectors: readonly string[];
  /** Of all of them. */
  readonly spellings: readonly string[];
}

export function termRowsOf(texts: readonly IndexedTexts[]): TermRows {
  const terms = texts.map(documentTermsOf);
  const fields = (['title', 'heading', 'body'] as const).map((field) => terms.map((document) => document[field]));
  const streams = fields.flatMap((field) => [field.map(({ main }) => main), field.map(({ extra }) => extra)]);
  return {
    streams,
    lengths: fields.map((field) => field.map(({ length }) => length)),
    vectors: texts.map((_, place) => vectorOf(streams.map((stream) => stream[place] ?? ''))),
    spellings: [...spellingsIn(streams.flat())],
  };
}

function vectorOf(streams: readonly string[]): string {
  const distinct = new Set(streams.flatMap((stream) => stream.split(' ')));
  distinct.delete('');
  return [...distinct].map(quotedTerm).join(' ');
}

export function quotedTerm(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
