import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FusedMatch } from './fusion.ts';
import { newerFirst } from './newer-first.ts';

const match = (id: number, rank: number): FusedMatch => ({ id, rank, score: 1 / rank, explanation: { rrf: 0 } });

/** In the order given; newer texts have higher numbers. */
async function order(texts: Record<number, string>, ids: readonly number[]) {
  const known = new Map(Object.entries(texts).map(([id, text]) => [Number(id), text]));
  return newerFirst(
    ids.map((id, index) => match(id, index + 1)),
    async () => known,
  );
}

test('what replaces a statement comes before it, and the scores stay with the places', async () => {
  const texts = {
    1: 'The retention of logs is 14 days.',
    2: 'Lunch is at noon.',
    3: 'The retention of logs is 30 days.',
    4: 'Logs are written by the shipper in the other region.',
  };
  const found = await order(texts, [1, 2, 4, 3]);
  assert.deepEqual(
    found.map(({ id, rank, score }) => [id, rank, score]),
    [
      [3, 1, 1],
      [1, 2, 1 / 2],
      [2, 3, 1 / 3],
      [4, 4, 1 / 4],
    ],
  );
  assert.equal(found[0]?.explanation.newerThan, 1);
  assert.equal(found[1]?.explanation.newerThan, undefined);
});

test('the newest of several is first, and an order that fits stays', async () => {
  const texts = { 1: 'The launch is on 6 May.', 2: 'The launch is on 20 May.', 3: 'The launch is on 3 May now.' };
  assert.deepEqual(
    (await order(texts, [1, 2, 3])).map(({ id }) => id),
    [3, 2, 1],
  );
  assert.deepEqual(
    (await order(texts, [3, 1, 2])).map(({ id }) => id),
    [3, 2, 1],
  );
  assert.deepEqual(
    (await order(texts, [3, 2, 1])).map(({ explanation }) => explanation.newerThan),
    [undefined, undefined, undefined],
  );
});

test('texts that share a few words, are long or gone, stay where they are', async () => {
  const texts = {
    1: 'Mira owns the billing service and the ledger.',
    2: 'The billing run failed because of the tax table.',
    3: 'word '.repeat(300),
    4: 'word '.repeat(301),
  };
  assert.deepEqual(
    (await order(texts, [1, 2, 3, 4, 5])).map(({ id }) => id),
    [1, 2, 3, 4, 5],
  );
});
