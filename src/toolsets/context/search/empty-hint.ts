import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { leavesOf, type WordQuery } from '../../../words/word-query.ts';
import { filterHints } from './filter-hints.ts';
import { absentWords, listed, type QueryWord } from './query-words.ts';
import { neededFilter } from './ranked-search.ts';

export interface EmptySearch {
  readonly filter: EntryFilter;
  readonly offset?: number;
  /** Number of entries found on all pages, if known. */
  readonly total?: number;
  /** The query's words, for keyword searches. */
  readonly words?: readonly QueryWord[];
  /** Advice if the filters match some entries and all words occur in memory. */
  readonly tryThis?: string;
}

/** Explains an empty result and suggests what to try. Returns no hint if there are results. */
export async function emptyHint(
  entries: EntryStore,
  shown: readonly unknown[],
  search: EmptySearch,
  signal: AbortSignal,
): Promise<{ hint?: string }> {
  if (shown.length > 0) return {};
  const { filter, offset = 0, total, words = [], tryThis } = search;
  if (total !== undefined && total > 0) {
    return { hint: `offset ${offset} is past the last of ${total} entries; start again with offset 0.` };
  }
  if ((await entries.threads({ limit: 1, offset: 0 }, { signal })).total === 0 && filter.asOf === undefined) {
    return { hint: 'Memory is empty: add entries with store_context.' };
  }
  const isFiltered = neededFilter(filter) !== undefined;
  const left = isFiltered ? (await entries.matching(filter, { signal })).length : undefined;
  if (left === 0) return { hint: await filterHints(entries, filter, signal) };
  const absent = await absentWords(entries, words, signal);
  const said = [
    offset > 0 && words.length === 0
      ? `offset ${offset} is past the last entry${left === undefined ? '' : ` of ${left}`}; start again with offset 0.`
      : left !== undefined && `Without the query, the filters match ${entryCount(left)}.`,
    absent.length > 0 && `No entry contains ${listed(absent)}: leave it out or use other words.`,
    absent.length === 0 && tryThis,
  ].filter((sentence) => typeof sentence === 'string');
  return said.length === 0 ? { hint: 'No entry matches; use other words.' } : { hint: said.join(' ') };
}

/** Says which words were misspelt and what was searched for instead. */
export function correctedHint(corrected: readonly CorrectedWord[]): string | undefined {
  if (corrected.length === 0) return undefined;
  const said = corrected.map(
    ({ word, terms }) => `No entry contains ${listed([word])}; searched for ${listed(terms)}.`,
  );
  return said.join(' ');
}

export function joinHints(...hints: readonly (string | undefined)[]): { hint?: string } {
  const said = hints.filter((each) => each !== undefined);
  return said.length === 0 ? {} : { hint: said.join(' ') };
}

/** Returns the words of a parsed query, as written if known, else as indexed. */
export function wordsOf(query: WordQuery): QueryWord[] {
  return leavesOf(query).map((leaf) => ({
    query: leaf,
    word:
      leaf.kind === 'phrase'
        ? leaf.terms.join(' ')
        : leaf.kind === 'prefix'
          ? `${leaf.prefix}*`
          : leaf.kind === 'near'
            ? leaf.written
            : (leaf.written ?? leaf.term),
  }));
}

function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}
