import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { ScoredEntry } from '../../../storage/entries/search-entries.ts';
import { coverageOf } from '../../../words/ranking/rank-pool.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { anyOf, leafKey, leavesOf, type WordQuery } from '../../../words/word-query.ts';

/** A query word as written, and the query that finds it. */
export interface QueryWord {
  readonly word: string;
  readonly query: WordQuery;
}

/** Max words looked up for a hint; each costs a search. */
const lookedUpMax = 12;
/** Max entries that `searchMostWords` examines. Each contains at least one of the words. */
const pickedFrom = 500;
/** Min words of a query that counts as a sentence. In shorter queries, each word matters. */
const sentenceMin = 4;
/**
 * Min words of a query for `searchMostWords`. It requires more than half of the words; of two words, that would be
 * both.
 */
export const relaxedMin = 3;

/** Returns the words that no entry contains, ignoring filters. */
export async function absentWords(
  entries: EntryStore,
  words: readonly QueryWord[],
  signal: AbortSignal,
): Promise<string[]> {
  const absent: string[] = [];
  for (const { word, query } of words.slice(0, lookedUpMax)) {
    const request = { query, filter: {}, limit: 1, offset: 0, explain: false };
    if ((await entries.searchWords(request, { signal })).total === 0) absent.push(word);
  }
  return absent;
}

export interface RelaxedPage {
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
  const any = await entries.searchWords({ query, filter, limit: pickedFrom, offset: 0, explain: false }, { signal });
  const ids = any.hits.map(({ id }) => id);
  const { documents, scoreMax } = await entries.scoreWords({ query, keys: ids }, { signal });
  const keys = words.map((each) => leavesOf(each.query).map(leafKey));
  const held = documents.map(({ key, score, terms }) => {
    const has = new Set(terms.map(({ term }) => term));
    const covered = terms.reduce((sum, { highest }) => sum + highest, 0);
    const coverage = coverageOf(covered, scoreMax);
    return { id: key, score, coverage, count: keys.filter((leaves) => leaves.some((leaf) => has.has(leaf))).length };
  });
  const half = Math.floor(words.length / 2) + 1;
  const most = Math.max(0, ...held.map(({ count }) => count));
  // Entries need more than half of the words. If no entry has that many and the query is a sentence, those with the
  // most words are enough, because answers repeat few words of a question.
  const least = words.length >= sentenceMin ? Math.min(most, half) : half;
  const matching = held
    .filter(({ count }) => count >= least)
    .sort((a, b) => b.count - a.count || b.score - a.score || a.id - b.id);
  return {
    query,
    hits: matching.slice(offset, offset + limit),
    total: matching.length,
    scoreMax,
    corrected: any.corrected,
  };
}

export function listed(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word.slice(0, 60).toWellFormed())).join(', ');
}
