import type { IndexStatistics } from '../../../words/ranking/bm25.ts';

/** Terms that are read at a time: a few megabytes. */
const batchTerms = 500_000;
const batchMin = 4;

/** Keys of documents that are read together: of long ones, fewer. The usual ones are one batch. */
export function* batches(keys: readonly number[], { averageLengths }: IndexStatistics): Generator<Batch> {
  const size = batchSize(averageLengths);
  for (let at = 0; at < keys.length; at += size) {
    yield { list: keys.slice(at, at + size), isLast: at + size >= keys.length };
  }
}

export function batchSize({ title, heading, body }: IndexStatistics['averageLengths']): number {
  return Math.max(batchMin, Math.floor(batchTerms / Math.max(1, title + heading + body)));
}

export interface Batch {
  readonly list: readonly number[];
  readonly isLast: boolean;
}
