import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAssumptions, createSteadyReads } from './steady-reads.ts';

test('what was told twice is assumed at once, and found out if it has changed', async () => {
  const steady = createSteadyReads();
  const read = async (value: number) => {
    const assumptions = createAssumptions(steady);
    const { promise, resolve } = Promise.withResolvers<{ value: number }[]>();
    const taken = assumptions.take('SELECT value', promise).then(([row]) => row?.['value']);
    const isAssumed = (await Promise.race([taken, new Promise((resolve) => setImmediate(resolve))])) !== undefined;
    resolve([{ value }]);
    return { isAssumed, taken: await taken, holds: await assumptions.hold() };
  };
  assert.deepEqual(await read(1), { isAssumed: false, taken: 1, holds: true });
  assert.deepEqual(await read(1), { isAssumed: false, taken: 1, holds: true });
  assert.deepEqual(await read(1), { isAssumed: true, taken: 1, holds: true });
  assert.deepEqual(await read(2), { isAssumed: true, taken: 1, holds: false });
  // Whoever writes between any two searches has none of them done twice.
  assert.deepEqual(await read(3), { isAssumed: false, taken: 3, holds: true });
  assert.deepEqual(await read(3), { isAssumed: false, taken: 3, holds: true });
  assert.deepEqual(await read(3), { isAssumed: true, taken: 3, holds: true });
});

test('a read that assumed what is not so assumes nothing when it is repeated, and fails as its statement does', async () => {
  const steady = createSteadyReads();
  for (const _ of [1, 2]) steady.tell('s', [{ value: 1 }]);
  const assumptions = createAssumptions(steady);
  assert.deepEqual(await assumptions.take('s', Promise.resolve([{ value: 2 }])), [{ value: 1 }]);
  assert.equal(await assumptions.hold(), false);
  for (const _ of [1, 2]) steady.tell('s', [{ value: 1 }]);
  assert.deepEqual(await assumptions.take('s', Promise.resolve([{ value: 2 }])), [{ value: 2 }]);
  for (const _ of [1, 2]) steady.tell('s', [{ value: 1 }]);
  const failing = createAssumptions(steady);
  await failing.take('s', Promise.reject(new Error('lost')));
  await assert.rejects(failing.hold(), /lost/);
});
