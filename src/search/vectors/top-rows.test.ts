import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../../test/support/test-vectors.ts';
import { createTopRows } from './top-rows.ts';

test('keeps the best, equal scores by row, whatever the limit', () => {
  const random = randomNumbers(9);
  // Few values, so that many are equal.
  const scores = Array.from({ length: 3_000 }, () => Math.floor(random() * 40));
  const order = scores.map((_, row) => row).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  for (const limit of [0, 1, 2, 7, 50, 257, 2_999, 3_000, 100_000]) {
    const best = createTopRows(limit);
    for (const [row, score] of scores.entries()) best.offer(row, score);
    const sorted = best.sorted();
    assert.deepEqual([...sorted.rows], order.slice(0, limit), `limit ${limit}`);
    assert.deepEqual(
      [...sorted.scores],
      order.slice(0, limit).map((row) => scores[row]),
    );
    const worst = limit > 3_000 ? Number.NEGATIVE_INFINITY : (sorted.scores.at(-1) ?? Number.POSITIVE_INFINITY);
    assert.equal(best.threshold, worst);
  }
});
