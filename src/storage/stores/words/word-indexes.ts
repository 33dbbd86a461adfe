import { matchesMax } from '../../contracts/passages.ts';
import type { WordIndex } from '../../dialect.ts';
import { textOf, textsOf } from '../../rows.ts';

export const noteWords: WordIndex = {
  name: 'note',
  owner: 'notes',
  ties: 'id',
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
  textsOf: (row) => ({
    title: textOf(row, 'title'),
    heading: textsOf(row, 'headings').join('\n'),
    body: textOf(row, 'body'),
  }),
};

export const wordIndexes = [noteWords, entryWords, passageWords];
