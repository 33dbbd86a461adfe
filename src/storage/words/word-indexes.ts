import type { WordIndex } from '../dialect.ts';
import { matchesMax } from '../passages/passage.ts';
import { textOf, textsOf } from '../rows.ts';

export const noteWords: WordIndex = {
  name: 'note',
  owner: 'notes',
  ties: 'id',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  labels: 'tags',
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: headingOf(textsOf(row, 'tags')),
    body: textOf(row, 'content'),
    labels: textsOf(row, 'tags'),
  }),
};

/** Returns the text that is indexed as a note's heading: its tags. */
export function headingOf(tags: readonly string[]): string {
  return [...new Set(tags)].join('\n');
}

export const entryWords: WordIndex = {
  name: 'context_entry',
  owner: 'context_entries',
  ties: 'key',
  isIndexed: 'o.deleted_at IS NULL',
  totalMax: 1_000_000,
  textsOf: (row) => ({ title: '', heading: '', body: textOf(row, 'text_content') }),
};

export const passageWords: WordIndex = {
  name: 'kb_passage',
  owner: 'kb_passages',
  ties: 'id',
  isIndexed: 'TRUE',
  totalMax: matchesMax,
  labels: 'labels',
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: textsOf(row, 'headings').join('\n'),
    body: textOf(row, 'body'),
    labels: textsOf(row, 'labels'),
  }),
};

export const wordIndexes = [noteWords, entryWords, passageWords];
