import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLucks } from './luck.ts';

/** Issue 18: a filter that the index of vectors has failed for does not pay for it again each time. */
describe('luck', () => {
  const luckOf = createLucks();

  test('a question that fails is soon not tried any more, but for once in a while, and another one is', () => {
    for (let turn = 0; turn < 5; turn += 1) luckOf(['a', 1])?.had(false);
    const tries = Array.from({ length: 24 }, () => luckOf(['a', 1])?.isHopeless()).filter((it) => it === false);
    assert.equal(tries.length, 2);
    assert.equal(luckOf(['b', 1])?.isHopeless(), false);
  });

  test('it is tried again each time once it succeeds', () => {
    for (let turn = 0; turn < 5; turn += 1) luckOf(['a', 1])?.had(true);
    assert.equal(luckOf(['a', 1])?.isHopeless(), false);
  });

  test('a long question is not remembered', () => {
    assert.equal(luckOf('x'.repeat(2_000)), undefined);
  });
});
