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

export const searchModes = ['match', 'prefix', 'phrase', 'boolean'] as const;
export type SearchMode = (typeof searchModes)[number];

/** 002, search modes. Whatever the text holds, it is a query and no error. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return everyWord(text);
    case 'prefix':
      return prefixQuery(text.replace(/["*]+/g, ' '));
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // An operator without an operand counts for nothing but makes words side by side mean all of them. Where there are no
      // words, it would be read as one.
      return plainQuery(text).kind === 'nothing' ? nothing : parseQuery(`${text} AND`);
  }
}

/** Queries with fewer words than this must have all of them in an entry; of longer ones, any counts. */
const orThreshold = 4;

export interface AdaptiveQuery {
  readonly query: WordQuery;
  readonly mode: 'match' | 'boolean';
}

/** Of a question, no entry has every word; of two or three words, one that has all is meant. */
export function adaptiveQuery(text: string): AdaptiveQuery {
  const words = text.match(/"[^"]*"|\S+/g)?.filter((word) => word.length > 1) ?? [];
  return words.length >= orThreshold
    ? { query: plainQuery(text), mode: 'boolean' }
    : { query: everyWord(text), mode: 'match' };
}

function everyWord(text: string): WordQuery {
  const words = text.split(/\s+/).map(exactWord);
  return allOf(words.filter((word) => word.kind !== 'nothing').slice(0, queryLeavesMax));
}
