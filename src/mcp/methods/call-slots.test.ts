import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toolset } from '../../tools/toolset.ts';
import { createCallSlots } from './call-slots.ts';

const bounded: Toolset = {
  name: 'bounded',
  tools: [],
  failures: { as: 'jsonrpc' },
  inFlight: { runningMax: 1, waitingMax: 1 },
};
const free: Toolset = { name: 'free', tools: [], failures: { as: 'jsonrpc' } };
const { signal } = new AbortController();

test("a toolset's own limit does not delay others (000 §12)", async () => {
  const callSlots = createCallSlots([bounded, free], { runningMax: 10, waitingMax: 10 });
  const blocked = Promise.withResolvers<string>();
  const entered: string[] = [];
  const enter = (name: string) => () => void entered.push(name);
  const first = callSlots.run(bounded, signal, () => blocked.promise, enter('first'));
  const second = callSlots.run(bounded, signal, async () => 'second', enter('second'));
  await assert.rejects(
    callSlots.run(bounded, signal, async () => 'third', enter('third')),
    { code: 'too_many_in_flight', retryAfterSeconds: 1 },
  );
  assert.equal(await callSlots.run(free, signal, async () => 'other', enter('other')), 'other');
  assert.deepEqual(entered, ['first', 'other']);
  blocked.resolve('first');
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);
});

test('releases slots when work fails or is cancelled while waiting', async () => {
  const callSlots = createCallSlots([bounded], { runningMax: 10, waitingMax: 10 });
  const blocked = Promise.withResolvers<string>();
  const first = callSlots.run(bounded, signal, () => blocked.promise);
  const controller = new AbortController();
  const waiting = callSlots.run(bounded, controller.signal, async () => 'never');
  controller.abort();
  await assert.rejects(waiting, { code: 'cancelled' });
  blocked.reject(new Error('broken'));
  await assert.rejects(first, /broken/);
  assert.equal(await callSlots.run(bounded, signal, async () => 'free again'), 'free again');
});
