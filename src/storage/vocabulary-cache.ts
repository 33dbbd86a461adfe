import { createVocabulary, type Vocabulary } from '../words/vocabulary.ts';
import type { Statements, VocabularyCache, WordIndex } from './dialect.ts';
import { numberOf, optionalTextOf, type Row } from './rows.ts';

/** Words that were written later than the place given, as `terms` joined by spaces, and the `last` place. */
export type ReadSpellings = (on: Statements, index: WordIndex, after: number) => Promise<Row | undefined>;

/** Reads all words when a misspelt one is first looked up, and the new ones after a change. */
export function createVocabularyCache(read: ReadSpellings): VocabularyCache {
  const kept = new Map<string, { vocabulary: Vocabulary; last: number; counts: object | undefined }>();
  return async (on, index, counts) => {
    const known = kept.get(index.name) ?? { vocabulary: createVocabulary(), last: 0, counts: undefined };
    if (known.counts === counts) return known.vocabulary;
    const row = (await read(on, index, known.last)) ?? {};
    const terms = optionalTextOf(row, 'terms');
    if (terms !== undefined) {
      known.vocabulary.add(terms.split(' '));
      known.last = Math.max(known.last, numberOf(row, 'last'));
    }
    known.counts = counts;
    kept.set(index.name, known);
    return known.vocabulary;
  };
}
