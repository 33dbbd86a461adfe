import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlidingWindow } from './sliding-window.ts';

test('allows exactly the limit and reports when the next call fits', () => {
  let now = 0;
  const window = createSlidingWindow({ limit: 3, windowMs: 1000, clock: () => now });
  for (const time of [0, 100, 200]) {
    now = time;
    assert.equal(window.take('a').ok, true);
  }
  now = 300;
  assert.deepEqual(window.take('a'), { ok: false, retryAfterMs: 700 });
  now = 999;
  assert.equal(window.take('a').ok, false);
  now = 1000;
  assert.equal(window.take('a').ok, true);
  assert.deepEqual(window.take('a'), { ok: false, retryAfterMs: 100 });
});

test('counts callers separately and does not count refused calls', () => {
  let now = 0;
  const window = createSlidingWindow({ limit: 1, windowMs: 1000, clock: () => now });
  assert.equal(window.take('a').ok, true);
  assert.equal(window.take('b').ok, true);
  now = 900;
  assert.equal(window.take('a').ok, false);
  now = 1000;
  assert.equal(window.take('a').ok, true);
});

test('remembers a bounded number of callers and forgets the quietest first', () => {
  const window = createSlidingWindow({ limit: 1, windowMs: 1000, clock: () => 0, keysMax: 2 });
  window.take('a');
  window.take('b');
  window.take('a');
  window.take('c');
  assert.equal(window.take('a').ok, false);
  assert.equal(window.take('b').ok, true);
});

test('T135: does not forget a caller at its limit among 11,000 others', () => {
  let now = 0;
  const window = createSlidingWindow({ limit: 10, windowMs: 60_000, clock: () => now });
  for (let call = 0; call < 10; call += 1) assert.equal(window.take('busy').ok, true);
  for (let other = 0; other < 11_000; other += 1) assert.equal(window.take(`other ${other}`).ok, true);
  assert.equal(window.take('busy').ok, false);
  now = 60_000;
  assert.equal(window.take('busy').ok, true);
});
