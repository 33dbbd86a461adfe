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

/** Parses a query in one of mcp-context-server's search modes. Any text is a valid query. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return everyWord(text);
    case 'prefix':
      return prefixesOf(text);
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // Without this check, the operators of a query without words would count as words.
      return plainQuery(text).kind === 'nothing' ? nothing : readBoolean(text).query;
  }
}

/** Explains how the mode reads the text, if the caller may have meant something else. */
export function modeRemark(text: string, mode: SearchMode): string | undefined {
  if (mode === 'match' && operators.test(text)) {
    return 'Mode match treats AND, OR, NOT, | and -word as words; use mode boolean for operators.';
  }
  if (mode === 'boolean') {
    const { idleNegation } = readBoolean(text);
    if (idleNegation === 'alone')
      return 'A query with only exclusions finds nothing: add a word that entries must contain.';
    return (
      idleNegation && 'OR NOT … was ignored: every alternative needs a word that entries must contain. Write b NOT a.'
    );
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

/** Parses quoted phrases as phrases and all other words as prefixes. */
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

/**
 * Returns the words that must all match; `word*` is a prefix. Question and stop words are dropped if there are other
 * words.
 */
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

/**
 * Returns the prefix query for a word with a star. Returns undefined without a star, or if the query has too many
 * prefixes.
 */
function starred(word: string, quota: { prefixes: number; short: number }): WordQuery | undefined {
  if (!/[\p{L}\p{N}]\*+$/u.test(word) || quota.prefixes === 0) return undefined;
  const query = prefixWord(word);
  const isShort = query.kind === 'prefix' && isShortPrefix(query.prefix);
  if (isShort && quota.short === 0) return undefined;
  quota.prefixes -= 1;
  if (isShort) quota.short -= 1;
  return query;
}
