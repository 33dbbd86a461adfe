import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPace } from './pace.ts';

test('estimates the remaining time from the last minute; a single sample gives no estimate', () => {
  const pace = createPace();
  assert.deepEqual(pace.update({ at: 0, waiting: 100, finished: 0, unembedded: 0 }), {});
  assert.deepEqual(pace.update({ at: 30_000, waiting: 80, finished: 20, unembedded: 50 }), {
    filesPerMinute: 40,
    filesLeftMs: 120_000,
  });
  // Samples older than a minute no longer count.
  assert.deepEqual(pace.update({ at: 85_000, waiting: 80, finished: 20, unembedded: 50 }), {});
});

test('measures embedding since the last finished file', () => {
  const pace = createPace();
  pace.update({ at: 0, waiting: 1, finished: 0, unembedded: 0 });
  pace.update({ at: 1_000, waiting: 0, finished: 1, unembedded: 400 });
  assert.deepEqual(pace.update({ at: 7_000, waiting: 0, finished: 1, unembedded: 300 }), {
    passagesPerMinute: 1_000,
    passagesLeftMs: 18_000,
  });
});
