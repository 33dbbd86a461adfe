import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { ScoredEntry } from '../../../storage/entries/search-entries.ts';
import { parseBooleanQuery } from '../../../words/boolean-query.ts';
import { coverageOf } from '../../../words/ranking/rank-pool.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import {
  allOf,
  anyOf,
  exactWord,
  isShortPrefix,
  leafKey,
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

export const searchModes = ['match', 'prefix', 'phrase', 'boolean'] as const;
export type SearchMode = (typeof searchModes)[number];

/** Parses a query in one of mcp-context-server's search modes. Any text is a valid query. */
export function wordQueryOf(text: string, mode: SearchMode): WordQuery {
  switch (mode) {
    case 'match':
      return allWords(text);
    case 'prefix':
      return prefixesOf(text);
    case 'phrase':
      return phraseQuery(text);
    case 'boolean':
      // Without this check, the operators of a query without words would count as words.
      return plainQuery(text).kind === 'nothing' ? nothing : parseBooleanQuery(text).query;
  }
}

/** Explains how the mode reads the text, if the caller may have meant something else. */
export function modeHint(text: string, mode: SearchMode): string | undefined {
  if (mode === 'match' && operators.test(text)) {
    return 'Mode match treats AND, OR, NOT, | and -word as words; use mode boolean for operators.';
  }
  if (mode === 'boolean') {
    const { idleNegation } = parseBooleanQuery(text);
    if (idleNegation === 'alone')
      return 'A query with only exclusions finds nothing: add a word that entries must contain.';
    return (
      idleNegation &&
      'OR NOT … was ignored: every alternative needs a word that entries must contain. Use NOT only after such a word.'
    );
  }
  if (mode !== 'prefix') return undefined;
  const wholeWords = leavesOf(prefixQuery(withoutQuotesAndStars(text))).flatMap((leaf) =>
    leaf.kind === 'term' ? [leaf.written ?? leaf.term] : [],
  );
  return wholeWords.length === 0 ? undefined : `Matched as whole words, not prefixes: ${quoteWords(wholeWords)}.`;
}

const operators = /(?:^|\s)(?:(?:AND|OR|NOT|\|+)(?=\s)|[-!](?=["(\p{L}]))/u;

/** Parses quoted phrases as phrases and all other words as prefixes. */
function prefixesOf(text: string): WordQuery {
  const { phrases, unquoted } = quotedIn(text);
  const prefixes = prefixQuery(withoutQuotesAndStars(unquoted));
  return allOf(phrases.length > 0 && prefixes.kind === 'nothing' ? phrases : [...phrases, prefixes]);
}

function withoutQuotesAndStars(text: string): string {
  return text.replace(/["*]+/g, ' ');
}

function allWords(text: string): WordQuery {
  return allOf(queryWords(text).map(({ query }) => query));
}

/**
 * Returns the words that must all match; `word*` is a prefix. Question and stop words are dropped if there are other
 * words.
 */
export function queryWords(text: string): QueryWord[] {
  const quota = { prefixes: queryPrefixesMax, short: shortPrefixesMax };
  const { phrases, unquoted } = quotedIn(text);
  const quoted = phrases.map((query) => ({ word: wordsIn(query).join(' '), query }));
  const words = unquoted
    .split(/\s+/)
    .map((word) => ({ word, query: starredPrefix(word, quota) ?? exactWord(word) }))
    .filter(({ query }) => query.kind !== 'nothing');
  const contentWords = words.filter(
    ({ word, query }) => query.kind === 'prefix' || plainQuery(word, { allowsQuestionWords: false }).kind !== 'nothing',
  );
  return [...quoted, ...(contentWords.length + quoted.length > 0 ? contentWords : words)].slice(0, queryLeavesMax);
}

function wordsIn(query: WordQuery): string[] {
  return leavesOf(query).flatMap((leaf) => (leaf.kind === 'phrase' ? leaf.terms : []));
}

/**
 * Returns the prefix query for a word with a star. Returns undefined without a star, or if the query has too many
 * prefixes.
 */
function starredPrefix(word: string, quota: { prefixes: number; short: number }): WordQuery | undefined {
  if (!/[\p{L}\p{N}]\*+$/u.test(word) || quota.prefixes === 0) return undefined;
  const query = prefixWord(word);
  const isShort = query.kind === 'prefix' && isShortPrefix(query.prefix);
  if (isShort && quota.short === 0) return undefined;
  quota.prefixes -= 1;
  if (isShort) quota.short -= 1;
  return query;
}

/** A query word as written, and the query that finds it. */
export interface QueryWord {
  readonly word: string;
  readonly query: WordQuery;
}

/** Max words checked for a hint; each costs a search. */
const checkedWordsMax = 12;
/** Max entries that `searchMostWords` examines. */
const candidatesMax = 500;
/** Min words of a query that counts as a sentence. In shorter queries, each word matters. */
const sentenceWordsMin = 4;
/**
 * Min words of a query for `searchMostWords`. It requires more than half of the words; of two words, that would be
 * both.
 */
export const relaxedWordsMin = 3;

/** Returns the words that no entry contains, ignoring filters. */
export async function absentWords(
  entries: EntryStore,
  words: readonly QueryWord[],
  signal: AbortSignal,
): Promise<string[]> {
  const absent: string[] = [];
  for (const { word, query } of words.slice(0, checkedWordsMax)) {
    const request = { query, filter: {}, limit: 1, offset: 0, explain: false };
    if ((await entries.searchWords(request, { signal })).total === 0) absent.push(word);
  }
  return absent;
}

interface RelaxedPage {
  readonly query: WordQuery;
  readonly hits: readonly ScoredEntry[];
  readonly total: number;
  readonly scoreMax: number;
  readonly corrected: readonly CorrectedWord[];
}

/** Finds entries with most of the words, best first: the fallback if no entry contains all of them. */
export async function searchMostWords(
  entries: EntryStore,
  words: readonly QueryWord[],
  { filter, limit, offset }: { filter: EntryFilter; limit: number; offset: number },
  signal: AbortSignal,
): Promise<RelaxedPage> {
  const query = anyOf(words.map((each) => each.query));
  const anyWord = await entries.searchWords(
    { query, filter, limit: candidatesMax, offset: 0, explain: false },
    { signal },
  );
  const ids = anyWord.hits.map(({ id }) => id);
  const { documents, scoreMax } = await entries.scoreWords({ query, keys: ids }, { signal });
  const keys = words.map((each) => leavesOf(each.query).map(leafKey));
  const candidates = documents.map(({ key, score, terms }) => {
    const matchedTerms = new Set(terms.map(({ term }) => term));
    const covered = terms.reduce((sum, { highest }) => sum + highest, 0);
    const coverage = coverageOf(covered, scoreMax);
    return {
      id: key,
      score,
      coverage,
      count: keys.filter((leaves) => leaves.some((leaf) => matchedTerms.has(leaf))).length,
    };
  });
  const majority = Math.floor(words.length / 2) + 1;
  const countMax = Math.max(0, ...candidates.map(({ count }) => count));
  // Entries need more than half of the words. For a sentence, the entries with the most words are enough, because
  // answers repeat few words of a question.
  const required = words.length >= sentenceWordsMin ? Math.min(countMax, majority) : majority;
  const matching = candidates
    .filter(({ count }) => count >= required)
    .sort((a, b) => b.count - a.count || b.score - a.score || a.id - b.id);
  return {
    query,
    hits: matching.slice(offset, offset + limit),
    total: matching.length,
    scoreMax,
    corrected: anyWord.corrected,
  };
}

/** Formats words for a hint, shortened. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word.slice(0, 60).toWellFormed())).join(', ');
}
