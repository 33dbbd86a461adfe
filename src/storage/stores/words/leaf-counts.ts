import { countedLeaves, type IndexStatistics } from '../../../words/ranking/bm25.ts';
import { leafKey, type WordLeaf } from '../../../words/word-query.ts';
import type { LeafCount, Statements, WordIndex } from '../../dialect.ts';
import { numberOf } from '../../rows.ts';
import type { WordLists } from './listed-matches.ts';

/** In how many documents words are. */
export interface KnownWords {
  readonly statistics: IndexStatistics;
  readonly counts: ReadonlyMap<string, number>;
}

export type CountLeaves = (leaves: readonly WordLeaf[]) => Promise<KnownWords>;

/** The words of one search, each looked up once. */
export interface LeafCounts {
  readonly count: CountLeaves;
  /** Of those that were counted or listed, where the database told. */
  readonly lists: WordLists;
  /** Whether these are in few enough documents to be listed. */
  canList(leaves: readonly WordLeaf[], max: number): Promise<boolean>;
  /** Has all of these listed. False where one of them is in more than `max` documents, or all together in too many. */
  list(leaves: readonly WordLeaf[], max: number): Promise<boolean>;
}

/** Documents that are put together here, of all words. */
const listedSumMax = 40_000;

export function createLeafCounts(on: Statements, index: WordIndex): LeafCounts {
  const { words } = on.dialect;
  const lists = new Map<string, Float64Array>();
  let statistics: IndexStatistics | undefined;
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
    if (statistics === undefined) {
      // Asked at the same time, by the counts of the last search: as a rule nothing has changed since.
      const wanted = uncounted(words.counts(index.name));
      const reading = readStatistics(on, index);
      const documents = async () => (await reading).documents;
      const [read, found] = await Promise.all([reading, look(wanted, documents)]);
      statistics = read;
      note(wanted, found, words.counts(index.name, read));
    }
    const { documents } = statistics;
    const counts = words.counts(index.name, statistics);
    const wanted = uncounted(counts);
    note(wanted, await look(wanted, async () => documents), counts);
    return { statistics, counts };
  };
  const canList = async (leaves: readonly WordLeaf[], max: number) => {
    const { counts } = await count(leaves);
    const totals = leaves.map((leaf) => counts.get(leafKey(leaf)) ?? 0);
    return Math.max(...totals) <= max && totals.reduce((sum, total) => sum + total, 0) <= listedSumMax;
  };
  return {
    lists,
    count,
    canList,
    async list(leaves, max) {
      if (!(await canList(leaves, max))) return false;
      const { statistics } = await count(leaves);
      const unlisted = leaves.filter((leaf) => !lists.has(leafKey(leaf)));
      if (unlisted.length > 0) {
        const documents = async () => statistics.documents;
        const found = await words.count(on, index, unlisted, { documents, keys: true });
        // What was known of their number stays, even if it was an estimate: the same search must always score the same.
        unlisted.forEach((leaf, place) => {
          const keys = found[place]?.keys;
          if (keys !== undefined) lists.set(leafKey(leaf), keys);
        });
      }
      return leaves.every((leaf) => lists.has(leafKey(leaf)));
    },
  };
}

type CountedLeaves = ReadonlyMap<string, number>;

async function readStatistics(on: Statements, index: WordIndex): Promise<IndexStatistics> {
  const row = await on.dialect.words.sums(on, index);
  const documents = numberOf(row, 'documents');
  const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
  return { documents, averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') } };
}
