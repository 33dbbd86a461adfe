import { readQuery } from '../../../words/query-language.ts';
import {
  allOf,
  exactWord,
  isShortPrefix,
  leavesOf,
  nothing,
  phraseQuery,
  plainQuery,
  prefixQuery,
  prefixWord,
  queryLeavesMax,
  queryPrefixesMax,
  quotedIn,
  shortPrefixesMax,
  type WordQuery,
} from '../../../words/word-query.ts';
import { listed, type SoughtWord } from './sought-words.ts';

export const searchModes = ['match', 'prefix', 'phrase', 'boolean'] as const;
export type SearchMode = (typeof searchModes)[number];

/** 002, search modes. Any text is a valid query. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return everyWord(text);
    case 'prefix':
      return prefixesOf(text);
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // In a query without words an operator would be taken for a word.
      return plainQuery(text).kind === 'nothing' ? nothing : readBoolean(text).query;
  }
}

/** What a mode does not do as the text may have meant it. */
export function modeRemark(text: string, mode: SearchMode): string | undefined {
  if (mode === 'match' && operators.test(text)) {
    return 'Mode match takes AND, OR, NOT, | and -word for words; mode boolean does what they say.';
  }
  if (mode === 'boolean') {
    const { idleNegation } = readBoolean(text);
    if (idleNegation === 'alone')
      return 'A query of exclusions alone finds nothing: add a word that entries must have.';
    return idleNegation && 'An alternative that only excludes (OR NOT …) was left out; write b NOT a.';
  }
  if (mode !== 'prefix') return undefined;
  const whole = leavesOf(prefixQuery(bare(text))).flatMap((leaf) =>
    leaf.kind === 'term' ? [leaf.written ?? leaf.term] : [],
  );
  return whole.length === 0 ? undefined : `Taken as whole words, not prefixes: ${listed(whole)}.`;
}

const operators = /(?:^|\s)(?:(?:AND|OR|NOT|\|+)(?=\s)|[-!](?=["(\p{L}]))/u;

function readBoolean(text: string) {
  return readQuery(text, { all: true });
}

/** Phrases in quotes as they are, everything else as prefixes. */
function prefixesOf(text: string): WordQuery {
  const { phrases, rest } = quotedIn(text);
  const others = prefixQuery(bare(rest));
  return allOf(phrases.length > 0 && others.kind === 'nothing' ? phrases : [...phrases, others]);
}

function bare(text: string): string {
  return text.replace(/["*]+/g, ' ');
}

function everyWord(text: string): WordQuery {
  return allOf(soughtWords(text).map(({ query }) => query));
}

/** The words that must all match; `word*` is a prefix. Question and stop words are left out, unless there are no others. */
export function soughtWords(text: string): SoughtWord[] {
  const room = { prefixes: queryPrefixesMax, short: shortPrefixesMax };
  const { phrases, rest } = quotedIn(text);
  const quoted = phrases.map((query) => ({ word: wordsIn(query).join(' '), query }));
  const words = rest
    .split(/\s+/)
    .map((word) => ({ word, query: starred(word, room) ?? exactWord(word) }))
    .filter(({ query }) => query.kind !== 'nothing');
  const telling = words.filter(
    ({ word, query }) => query.kind === 'prefix' || plainQuery(word, { alone: false }).kind !== 'nothing',
  );
  return [...quoted, ...(telling.length + quoted.length > 0 ? telling : words)].slice(0, queryLeavesMax);
}

function wordsIn(query: WordQuery): string[] {
  return leavesOf(query).flatMap((leaf) => (leaf.kind === 'phrase' ? leaf.terms : []));
}

/** What a word with a star asks for, as long as there is room for prefixes. */
function starred(word: string, room: { prefixes: number; short: number }): WordQuery | undefined {
  if (!/[\p{L}\p{N}]\*+$/u.test(word) || room.prefixes === 0) return undefined;
  const query = prefixWord(word);
  const isShort = query.kind === 'prefix' && isShortPrefix(query.prefix);
  if (isShort && room.short === 0) return undefined;
  room.prefixes -= 1;
  if (isShort) room.short -= 1;
  return query;
}
