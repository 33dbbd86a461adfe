import { stemOf } from '../../../words/language.ts';
import {
  leafKey,
  leavesOf,
  type NearTerm,
  type WordLeaf,
  type WordQuery,
  withLeaves,
} from '../../../words/word-query.ts';
import type { Statements, WordIndex } from '../../dialect.ts';
import type { CountLeaves } from './leaf-counts.ts';

/** Misspelt words of one query that are looked up. */
const mendedMax = 6;
/** Words that stand for a misspelt one: those in most documents. */
const termsMax = 6;

/** Replaces words that no document has by the nearest ones that some have. What has no near ones stays as it is. */
export async function mendQuery(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  countLeaves: CountLeaves,
): Promise<WordQuery> {
  const leaves = leavesOf(query);
  const words = leaves.filter((leaf) => leaf.kind === 'term' && leaf.mendable);
  if (words.length === 0) return query;
  // All of them: the others would be counted by themselves later.
  const { counts, statistics } = await countLeaves(leaves);
  const absent = words.filter((leaf) => counts.get(leafKey(leaf)) === 0).slice(0, mendedMax);
  if (absent.length === 0 || statistics.documents === 0) return query;
  const vocabulary = await on.dialect.words.vocabulary(on, index, counts);
  const mended = new Map<string, WordLeaf>();
  for (const leaf of absent) {
    if (leaf.kind !== 'term') continue;
    const written = leaf.written ?? leaf.term;
    const terms = await likeliestOf(vocabulary.nearest(written), countLeaves);
    if (terms.length > 0) mended.set(leaf.term, { kind: 'near', word: leaf.term, written, terms });
  }
  return mended.size === 0 ? query : withLeaves(query, (leaf) => mended.get(leafKey(leaf)) ?? leaf);
}

/** Common words are meant, and misspelt, more often than rare ones. Words of documents that are gone are in none. */
async function likeliestOf(words: readonly string[], countLeaves: CountLeaves): Promise<NearTerm[]> {
  if (words.length === 0) return [];
  const leaves = words.map((term) => ({ kind: 'term' as const, term }));
  const { counts } = await countLeaves(leaves);
  const likely = (word: string) => 1 + Math.log(counts.get(word) || 1);
  const found = words.filter((word) => (counts.get(word) ?? 0) > 0).toSorted((a, b) => likely(b) - likely(a));
  const likeliest = likely(found[0] ?? '');
  return found
    .slice(0, termsMax)
    .map((written) => ({ term: stemOf(written), written, share: likely(written) / likeliest }));
}
