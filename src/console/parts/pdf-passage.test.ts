import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPassage } from './pdf-passage.ts';

test('finds a passage across line breaks, hyphens and punctuation, and nothing else', () => {
  const pieces = ['Chapter 2', 'The keeper of the light-', 'house retired in May. Then', '', 'the gulls came back.'];
  const runs = findPassage(pieces, '**The keeper** of the lighthouse\nretired in May.');
  assert.deepEqual(
    runs.map(({ index, from, to }) => [index, from, Math.round(to * 21)]),
    [
      [1, 0, 21],
      [2, 0, 17],
    ],
  );
});

test('does not mark a sentence that only shares words with the passage', () => {
  const pieces = ['The keeper of the lighthouse sleeps.', 'The keeper of the lighthouse reads.'];
  const runs = findPassage(pieces, 'The keeper of the lighthouse reads.');
  assert.deepEqual(runs, [{ index: 1, from: 0, to: 1 }]);
});

test('marks nothing for an empty or an absent passage', () => {
  assert.deepEqual(findPassage(['The gulls came back.'], ' … '), []);
  assert.deepEqual(findPassage(['The gulls came back.'], 'The keeper of the lighthouse'), []);
  assert.deepEqual(findPassage([], 'The keeper'), []);
});
