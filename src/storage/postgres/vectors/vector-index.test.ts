import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAfterCheck } from './vector-index.ts';

test('checks a ready index once a minute, and a missing one more often', () => {
  assert.equal(pauseAfterCheck(2, true), 60_000);
  assert.equal(pauseAfterCheck(2, false), 1_000);
  assert.equal(pauseAfterCheck(300, false), 6_000);
  assert.equal(pauseAfterCheck(10_000, false), 60_000);
});
