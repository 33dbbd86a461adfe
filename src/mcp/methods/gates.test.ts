import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toolset } from '../../tools/toolset.ts';
import { createGates } from './gates.ts';

const bounded: Toolset = {
  name: 'bounded',
  tools: [],
  failures: { as: 'jsonrpc' },
  inFlight: { runningMax: 1, waitingMax: 1 },
};
const free: Toolset = { name: 'free', tools: [], failures: { as: 'jsonrpc' } };
const { signal } = new AbortController();

test("a toolset's own limit does not delay others (000 §12)", async () => {
  const gates = createGates([bounded, free], { runningMax: 10, waitingMax: 10 });
  const held = Promise.withResolvers<string>();
  const entered: string[] = [];
  const enter = (name: string) => () => void entered.push(name);
  const first = gates.pass(bounded, signal, () => held.promise, enter('first'));
  const second = gates.pass(bounded, signal, async () => 'second', enter('second'));
  await assert.rejects(
    gates.pass(bounded, signal, async () => 'third', enter('third')),
    { code: 'too_many_in_flight', retryAfterSeconds: 1 },
  );
  assert.equal(await gates.pass(free, signal, async () => 'other', enter('other')), 'other');
  assert.deepEqual(entered, ['first', 'other']);
  held.resolve('first');
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);
});

test('releases slots when work fails or is cancelled while waiting', async () => {
  const gates = createGates([bounded], { runningMax: 10, waitingMax: 10 });
  const held = Promise.withResolvers<string>();
  const first = gates.pass(bounded, signal, () => held.promise);
  const controller = new AbortController();
  const waiting = gates.pass(bounded, controller.signal, async () => 'never');
  controller.abort();
  await assert.rejects(waiting, { code: 'cancelled' });
  held.reject(new Error('broken'));
  await assert.rejects(first, /broken/);
  assert.equal(await gates.pass(bounded, signal, async () => 'free again'), 'free again');
});
