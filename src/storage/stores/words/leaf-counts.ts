import { countedLeaves, type IndexStatistics } from '../../../words/ranking/bm25.ts';
import { leafKey, type WordLeaf } from '../../../words/word-query.ts';
import type { KeyFilter, LeafCount, Statements, WordIndex } from '../../dialect.ts';
import { numberOf, optionalTextOf } from '../../rows.ts';

/**
 * The documents that have each word, of which what a query finds is put together. Keys are in typed arrays, ascending: sets
 * of thousands of numbers cost more to collect as garbage than to make.
 */
export type WordLists = ReadonlyMap<string, Float64Array>;

/** In how many documents words are. */
export interface KnownWords {
  readonly statistics: IndexStatistics;
  readonly counts: ReadonlyMap<string, number>;
  /** Of the index; see `WordTable.sums`. */
  readonly state: string | undefined;
  /** Whether the index tells labels, too; see `KeyFilter.onWords`. */
  readonly isLabelled: boolean;
}

export type CountLeaves = (leaves: readonly WordLeaf[]) => Promise<KnownWords>;

/** The words of one search, each looked up once. */
export interface LeafCounts {
  readonly count: CountLeaves;
  /** What all that is listed passes: one that words are indexed with. What is counted need not. */
  readonly filter: KeyFilter | undefined;
  /** Of documents that pass it, about. */
  readonly share: number;
  /** Of those that were counted or listed, where the database told. */
  readonly lists: WordLists;
  /** Whether these are in few enough documents to be listed. */
  canList(leaves: readonly WordLeaf[], max: number, sumMax?: number): Promise<boolean>;
  /** Has all of these listed. False where one of them is in more than `max` documents, or all together in too many. */
  list(leaves: readonly WordLeaf[], max: number, sumMax?: number): Promise<boolean>;
  /** The same counts, for lists of what passes a filter. */
  within(filter: KeyFilter): Promise<LeafCounts>;
}

/** Documents that are put together here, of all words. */
const listedSumMax = 40_000;

export function createLeafCounts(on: Statements, index: WordIndex): LeafCounts {
  const { words } = on.dialect;
  const lists = new Map<string, Float64Array>();
  let read: Omit<KnownWords, 'counts'> | undefined;
  const look = async (leaves: readonly WordLeaf[], documents: () => Promise<number>) =>
    leaves.length === 0 ? [] : words.count(on, index, leaves, { documents });
  const note = (leaves: readonly WordLeaf[], found: readonly LeafCount[], counts: Map<string, number>) => {
    leaves.forEach((leaf, place) => {
      const key = leafKey(leaf);
      counts.set(key, found[place]?.documents ?? 0);
      const keys = found[place]?.keys;
      if (keys !== undefined) lists.set(key, keys);
    });
  };
  const count = async (leaves: readonly WordLeaf[]) => {
    const uncounted = (counts: CountedLeaves) => countedLeaves(leaves).filter((leaf) => !counts.has(leafKey(leaf)));
    if (read === undefined) {
      // Asked at the same time, by the counts of the last search: as a rule nothing has changed since.
      const wanted = uncounted(words.counts(index.name));
      const reading = readStatistics(on, index);
      const documents = async () => (await reading).statistics.documents;
      const [first, found] = await Promise.all([reading, look(wanted, documents)]);
      read = first;
      note(wanted, found, words.counts(index.name, read.statistics));
    }
    const { statistics, ...rest } = read;
    const { documents } = statistics;
    const counts = words.counts(index.name, statistics);
    const wanted = uncounted(counts);
    note(wanted, await look(wanted, async () => documents), counts);
    return { statistics, counts, ...rest };
  };
  const canList = async (leaves: readonly WordLeaf[], max: number, sumMax = listedSumMax) => {
    const { counts } = await count(leaves);
    const totals = leaves.map((leaf) => counts.get(leafKey(leaf)) ?? 0);
    return Math.max(...totals) <= max && totals.reduce((sum, total) => sum + total, 0) <= sumMax;
  };
  const listedIn = (own: Map<string, Float64Array>, filter: KeyFilter | undefined): LeafCounts['list'] => {
    return async (leaves, max, sumMax) => {
      if (!(await canList(leaves, max, sumMax))) return false;
      const { statistics } = await count(leaves);
      const unlisted = leaves.filter((leaf) => !own.has(leafKey(leaf)));
      if (unlisted.length > 0) {
        const documents = async () => statistics.documents;
        const found = await words.count(on, index, unlisted, { documents, keys: true, filter });
        // What was known of their number stays, even if it was an estimate: the same search must always score the same.
        unlisted.forEach((leaf, place) => {
          const keys = found[place]?.keys;
          if (keys !== undefined) own.set(leafKey(leaf), keys);
        });
      }
      return leaves.every((leaf) => own.has(leafKey(leaf)));
    };
  };
  const all: LeafCounts = {
    ...{ count, canList, lists, filter: undefined, share: 1, list: listedIn(lists, undefined) },
    async within(filter) {
      const own = new Map<string, Float64Array>();
      const share = (await words.listing?.shareOf(on, index, filter)) ?? 1;
      return { ...all, lists: own, filter, share, list: listedIn(own, filter) };
    },
  };
  return all;
}

type CountedLeaves = ReadonlyMap<string, number>;

async function readStatistics(on: Statements, index: WordIndex): Promise<Omit<KnownWords, 'counts'>> {
  const row = await on.dialect.words.sums(on, index);
  const documents = numberOf(row, 'documents');
  const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
  const averageLengths = { title: mean('title'), heading: mean('heading'), body: mean('body') };
  return {
    statistics: { documents, averageLengths },
    state: 'state' in row ? optionalTextOf(row, 'state') : undefined,
    isLabelled: 'labelled' in row && numberOf(row, 'labelled') === 1,
  };
}
