import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import { matchesMax } from '../../contracts/passages.ts';
import { type Row, textOf, textsOf } from '../../statements.ts';

/** One kind of document that is found by its words. */
export interface WordIndex {
  /** The prefix of the index's tables. */
  readonly name: string;
  /** The table that its keys are of, which has an `id` that breaks ties. */
  readonly owner: string;
  /** Matches are counted up to here. */
  readonly totalMax: number;
  /** Which rows of the owner, called `o`, are indexed. */
  readonly isIndexed: string;
  /** What is indexed of a row of the owner. */
  textsOf(row: Row): IndexedTexts;
}

export const noteWords: WordIndex = {
  name: 'note',
  owner: 'notes',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: [...new Set(textsOf(row, 'tags'))].join('\n'),
    body: textOf(row, 'content'),
  }),
};

export const entryWords: WordIndex = {
  name: 'context_entry',
  owner: 'context_entries',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  textsOf: (row) => ({ title: '', heading: '', body: textOf(row, 'text_content') }),
};

export const passageWords: WordIndex = {
  name: 'kb_passage',
  owner: 'kb_passages',
  isIndexed: 'TRUE',
  totalMax: matchesMax,
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: textsOf(row, 'headings').join('\n'),
    body: textOf(row, 'body'),
  }),
};

export const wordIndexes = [noteWords, entryWords, passageWords];
