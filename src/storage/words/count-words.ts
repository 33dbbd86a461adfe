import { isCommonWord } from '../../words/common-words.ts';
import { stemOf } from '../../words/language.ts';
import { countedLeaves, type IndexStatistics } from '../../words/ranking/bm25.ts';
import { createVocabulary, type Vocabulary } from '../../words/vocabulary.ts';
import {
  type FuzzyTerm,
  leafKey,
  leavesOf,
  type WordLeaf,
  type WordQuery,
  withLeaves,
} from '../../words/word-query.ts';
import type { Statements, VocabularyCache, WordIndex } from '../dialect.ts';
import { numberOf, optionalTextOf } from '../rows.ts';

/** Statistics of an index, and the number of documents that contain each word, by `leafKey`. */
export interface WordCounts {
  readonly statistics: IndexStatistics;
  readonly counts: ReadonlyMap<string, number>;
}

export type CountLeaves = (leaves: readonly WordLeaf[]) => Promise<WordCounts>;

/** Returns a function that counts the documents with each word of a search. Counts are cached until the index changes. */
export async function createLeafCounts(db: Statements, index: WordIndex): Promise<CountLeaves> {
  const { words } = db.dialect;
  const statistics = await readStatistics(db, index);
  return async (leaves) => {
    const counts = words.counts(index.name, statistics);
    const uncounted = countedLeaves(leaves).filter((leaf) => !counts.has(leafKey(leaf)));
    if (uncounted.length > 0) {
      const documents = await words.count(db, index, uncounted, statistics.documents);
      uncounted.forEach((leaf, index) => {
        counts.set(leafKey(leaf), documents[index] ?? 0);
      });
    }
    return { statistics, counts };
  };
}

async function readStatistics(db: Statements, index: WordIndex): Promise<IndexStatistics> {
  const [row = {}] = await db.query(
    `SELECT sum(documents) AS documents, sum(title_length) AS title, sum(heading_length) AS heading,
       sum(body_length) AS body FROM word_statistics WHERE word_index = ?`,
    [index.name],
  );
  const documents = numberOf(row, 'documents');
  const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
  return { documents, averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') } };
}

/** Max words corrected per query. */
const correctedMax = 6;
/** Max replacements for a misspelt word. */
const termsMax = 6;

/** Replaces words that no document contains with similar words that some documents contain, if there are any. */
export async function correctQuery(
  db: Statements,
  index: WordIndex,
  query: WordQuery,
  countLeaves: CountLeaves,
): Promise<WordQuery> {
  const leaves = leavesOf(query);
  const words = leaves.filter((leaf) => leaf.kind === 'term' && leaf.correctable);
  if (words.length === 0) return query;
  // Reads all counts together, because the search needs them anyway.
  const { counts, statistics } = await countLeaves(leaves);
  const absent = words.filter((leaf) => counts.get(leafKey(leaf)) === 0).slice(0, correctedMax);
  if (absent.length === 0 || statistics.documents === 0) return query;
  const vocabulary = await db.dialect.words.vocabulary(db, index, counts);
  const corrected = new Map<string, WordLeaf>();
  for (const leaf of absent) {
    if (leaf.kind !== 'term') continue;
    const written = leaf.written ?? leaf.term;
    if (isCommonWord(written)) continue;
    const terms = await likeliestOf(vocabulary.nearest(written), countLeaves);
    if (terms.length > 0) corrected.set(leaf.term, { kind: 'fuzzy', word: leaf.term, written, terms });
  }
  return corrected.size === 0 ? query : withLeaves(query, (leaf) => corrected.get(leafKey(leaf)) ?? leaf);
}

/** Returns the words that most documents contain. Omits words that only deleted documents contained. */
async function likeliestOf(words: readonly string[], countLeaves: CountLeaves): Promise<FuzzyTerm[]> {
  if (words.length === 0) return [];
  const leaves = words.map((term) => ({ kind: 'term' as const, term }));
  const { counts } = await countLeaves(leaves);
  const likelihood = (word: string) => 1 + Math.log(counts.get(word) || 1);
  const candidates = words
    .filter((word) => (counts.get(word) ?? 0) > 0)
    .toSorted((a, b) => likelihood(b) - likelihood(a));
  const likeliest = likelihood(candidates[0] ?? '');
  return candidates
    .slice(0, termsMax)
    .map((written) => ({ term: stemOf(written), written, share: likelihood(written) / likeliest }));
}

/** Number of positions to read again, because transactions may commit out of order. */
const placesReadAgain = 1000;

/** Creates a cache of words. It reads all words of an index when one is first corrected, and only new words after a change. */
export function createVocabularyCache(): VocabularyCache {
  const cache = new Map<string, { vocabulary: Vocabulary; last: number; counts: object | undefined }>();
  return async (db, { name }, counts) => {
    const cached = cache.get(name) ?? { vocabulary: createVocabulary(), last: 0, counts: undefined };
    if (cached.counts === counts) return cached.vocabulary;
    // Read as one text, because a list or rows would take several times as long.
    const [row = {}] = await db.query(
      `SELECT string_agg(term, ' ') AS terms, max(place) AS last FROM word_vocabulary
       WHERE word_index = ? AND place > ?`,
      [name, Math.max(0, cached.last - placesReadAgain)],
    );
    const terms = optionalTextOf(row, 'terms');
    if (terms !== undefined) {
      cached.vocabulary.add(terms.split(' '));
      cached.last = Math.max(cached.last, numberOf(row, 'last'));
    }
    cached.counts = counts;
    cache.set(name, cached);
    return cached.vocabulary;
  };
}
