import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeSketch, encodeSketch, isNearDuplicate, sketchOf } from './near-duplicates.ts';

const words = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `word${(from + index) * 7919}`).join(' ');

test('pages that differ only in boilerplate are near duplicates; others are not', () => {
  const text = words(400);
  const sketch = sketchOf(text);
  assert.deepEqual(decodeSketch(encodeSketch(sketch)), sketch);
  assert.ok(isNearDuplicate(sketch, sketchOf(`Printed version. ${text} Page 1 of 1`)));
  assert.ok(!isNearDuplicate(sketch, sketchOf(`${words(200)} ${words(200, 1000)}`)));
  assert.ok(!isNearDuplicate(sketchOf('Events in May'), sketchOf('Events in June')), 'short texts must be the same');
  assert.ok(isNearDuplicate(sketchOf('Events in May'), sketchOf('EVENTS in May!')));
});
