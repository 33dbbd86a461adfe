import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliverFairly, isLarge } from './large-answers.ts';

test('long texts make an answer large, buffers do not', () => {
  const long = 'x'.repeat(70_000);
  for (const value of [long, [long], { a: { b: [1, long] } }, Array(100).fill('x'.repeat(1_000))]) {
    assert.equal(isLarge(value), true);
  }
  for (const value of [
    'short',
    null,
    undefined,
    7,
    {},
    [],
    new Uint8Array(1_000_000),
    { rows: Array(100).fill('x') },
  ]) {
    assert.equal(isLarge(value), false);
  }
});

test('delivers large answers one per event loop turn, alternating between callers', async () => {
  const delivered: [caller: string, turn: number][] = [];
  let turn = 0;
  let isOpen = true;
  const count = (): void => {
    turn += 1;
    if (isOpen) setImmediate(count);
  };
  setImmediate(count);
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const caller of ['a', 'a', 'a', 'b']) {
    deliverFairly(caller, () => {
      if (delivered.push([caller, turn]) === 4) resolve();
    });
  }
  await promise;
  isOpen = false;
  assert.deepEqual(
    delivered.map(([caller]) => caller),
    ['a', 'b', 'a', 'a'],
  );
  assert.equal(new Set(delivered.map(([, at]) => at)).size, 4);
});
