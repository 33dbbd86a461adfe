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
import { listed, type QueryWord } from './query-words.ts';

export const searchModes = ['match', 'prefix', 'phrase', 'boolean'] as const;
export type SearchMode = (typeof searchModes)[number];

/** The search modes of mcp-context-server. Any text is a valid query. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return everyWord(text);
    case 'prefix':
      return prefixesOf(text);
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // In a query without words, an operator would count as a word.
      return plainQuery(text).kind === 'nothing' ? nothing : readBoolean(text).query;
  }
}

/** Explains how the mode reads the text, if that may differ from what was meant. */
export function modeRemark(text: string, mode: SearchMode): string | undefined {
  if (mode === 'match' && operators.test(text)) {
    return 'Mode match treats AND, OR, NOT, | and -word as words; use mode boolean for operators.';
  }
  if (mode === 'boolean') {
    const { idleNegation } = readBoolean(text);
    if (idleNegation === 'alone')
      return 'A query with only exclusions finds nothing: add a word that entries must contain.';
    return idleNegation && 'An alternative that only excludes (OR NOT …) was ignored; write b NOT a.';
  }
  if (mode !== 'prefix') return undefined;
  const whole = leavesOf(prefixQuery(bare(text))).flatMap((leaf) =>
    leaf.kind === 'term' ? [leaf.written ?? leaf.term] : [],
  );
  return whole.length === 0 ? undefined : `Matched as whole words, not prefixes: ${listed(whole)}.`;
}

const operators = /(?:^|\s)(?:(?:AND|OR|NOT|\|+)(?=\s)|[-!](?=["(\p{L}]))/u;

function readBoolean(text: string) {
  return readQuery(text, { all: true });
}

/** Quoted phrases as they are, everything else as prefixes. */
function prefixesOf(text: string): WordQuery {
  const { phrases, rest } = quotedIn(text);
  const others = prefixQuery(bare(rest));
  return allOf(phrases.length > 0 && others.kind === 'nothing' ? phrases : [...phrases, others]);
}

function bare(text: string): string {
  return text.replace(/["*]+/g, ' ');
}

function everyWord(text: string): WordQuery {
  return allOf(queryWords(text).map(({ query }) => query));
}

/** Words that must all match; `word*` is a prefix. Question and stop words are dropped unless there are no others. */
export function queryWords(text: string): QueryWord[] {
  const quota = { prefixes: queryPrefixesMax, short: shortPrefixesMax };
  const { phrases, rest } = quotedIn(text);
  const quoted = phrases.map((query) => ({ word: wordsIn(query).join(' '), query }));
  const words = rest
    .split(/\s+/)
    .map((word) => ({ word, query: starred(word, quota) ?? exactWord(word) }))
    .filter(({ query }) => query.kind !== 'nothing');
  const telling = words.filter(
    ({ word, query }) => query.kind === 'prefix' || plainQuery(word, { alone: false }).kind !== 'nothing',
  );
  return [...quoted, ...(telling.length + quoted.length > 0 ? telling : words)].slice(0, queryLeavesMax);
}

function wordsIn(query: WordQuery): string[] {
  return leavesOf(query).flatMap((leaf) => (leaf.kind === 'phrase' ? leaf.terms : []));
}

/** The prefix query for a word with a star. Undefined once the query has too many prefixes. */
function starred(word: string, quota: { prefixes: number; short: number }): WordQuery | undefined {
  if (!/[\p{L}\p{N}]\*+$/u.test(word) || quota.prefixes === 0) return undefined;
  const query = prefixWord(word);
  const isShort = query.kind === 'prefix' && isShortPrefix(query.prefix);
  if (isShort && quota.short === 0) return undefined;
  quota.prefixes -= 1;
  if (isShort) quota.short -= 1;
  return query;
}
