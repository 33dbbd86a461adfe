import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { leavesOf, type WordQuery } from '../../../words/word-query.ts';
import { filterHints } from './filter-hints.ts';
import { neededFilter } from './ranked-search.ts';
import { absentWords, listed, type SoughtWord } from './sought-words.ts';

export interface EmptySearch {
  readonly filter: EntryFilter;
  readonly offset?: number;
  /** All entries found, on this page or not, where that is known. */
  readonly total?: number;
  /** The words that were sought, where words were. */
  readonly words?: readonly SoughtWord[];
  /** What else to try if the filters leave entries and the words exist. */
  readonly tryThis?: string;
}

/** Says why a search found nothing and what to try. `shown` are its results: with any, there is nothing to say. */
export async function emptyHint(
  entries: EntryStore,
  shown: readonly unknown[],
  search: EmptySearch,
  signal: AbortSignal,
): Promise<{ hint?: string }> {
  if (shown.length > 0) return {};
  const { filter, offset = 0, total, words = [], tryThis } = search;
  if (total !== undefined && total > 0) {
    return { hint: `offset ${offset} is behind the last of ${total} entries found; start again with offset 0.` };
  }
  if ((await entries.threads({ limit: 1, offset: 0 }, { signal })).total === 0 && filter.asOf === undefined) {
    return { hint: 'The store is empty: store_context puts entries in.' };
  }
  const isFiltered = neededFilter(filter) !== undefined;
  const left = isFiltered ? (await entries.matching(filter, { signal })).length : undefined;
  if (left === 0) return { hint: await filterHints(entries, filter, signal) };
  const absent = await absentWords(entries, words, signal);
  const said = [
    offset > 0 && words.length === 0
      ? `offset ${offset} is behind the last entry${left === undefined ? '' : ` of ${left}`}; start again with offset 0.`
      : left !== undefined && `The filters leave ${entryCount(left)} without the query.`,
    absent.length > 0 && `No entry at all has ${listed(absent)}: leave that out or use other words.`,
    absent.length === 0 && tryThis,
  ].filter((sentence) => typeof sentence === 'string');
  return said.length === 0 ? { hint: 'No entry matches; use other words.' } : { hint: said.join(' ') };
}

/** Says what was searched for instead of words that no entry has. */
export function correctedHint(corrected: readonly CorrectedWord[]): string | undefined {
  if (corrected.length === 0) return undefined;
  const said = corrected.map(({ word, terms }) => `No entry has ${listed([word])}; searched for ${listed(terms)}.`);
  return said.join(' ');
}

/** Hints as one. */
export function joinHints(...hints: readonly (string | undefined)[]): { hint?: string } {
  const said = hints.filter((each) => each !== undefined);
  return said.length === 0 ? {} : { hint: said.join(' ') };
}

/** The words of any query, as they are indexed. */
export function wordsOf(query: WordQuery): SoughtWord[] {
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
