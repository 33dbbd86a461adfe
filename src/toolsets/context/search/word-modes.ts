import { parseQuery } from '../../../words/query-language.ts';
import {
  allOf,
  exactWord,
  nothing,
  phraseQuery,
  plainQuery,
  prefixQuery,
  queryLeavesMax,
  type WordQuery,
} from '../../../words/word-query.ts';
import type { SoughtWord } from './sought-words.ts';

export const searchModes = ['match', 'prefix', 'phrase', 'boolean'] as const;
export type SearchMode = (typeof searchModes)[number];

/** 002, search modes. Any text is a valid query. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return everyWord(text);
    case 'prefix':
      return prefixQuery(text.replace(/["*]+/g, ' '));
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // An operator without an operand is ignored, but its presence makes adjacent words mean all of them. In a query
      // without words it would be taken for a word.
      return plainQuery(text).kind === 'nothing' ? nothing : parseQuery(`${text} AND`);
  }
}

function everyWord(text: string): WordQuery {
  return allOf(soughtWords(text).map(({ query }) => query));
}

/** The words that must all match. Question and stop words are left out, unless there are no others. */
export function soughtWords(text: string): SoughtWord[] {
  const words = text
    .split(/\s+/)
    .map((word) => ({ word, query: exactWord(word) }))
    .filter(({ query }) => query.kind !== 'nothing');
  const telling = words.filter(({ word }) => plainQuery(word, { alone: false }).kind !== 'nothing');
  return (telling.length > 0 ? telling : words).slice(0, queryLeavesMax);
}
