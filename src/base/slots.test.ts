import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asCaller } from './current-caller.ts';
import { createSlots } from './slots.ts';

const never = new AbortController().signal;

test('queues excess calls in order and refuses more with a retry time', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 1 });
  const release = await slots.acquire(never);
  const waiting = slots.acquire(never);
  await assert.rejects(slots.acquire(never), { code: 'too_many_in_flight', retryAfterSeconds: 1 });
  release();
  const releaseWaiting = await waiting;
  releaseWaiting();
  (await slots.acquire(never))();
});

test('a cancelled call leaves the queue', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 1 });
  const release = await slots.acquire(never);
  const controller = new AbortController();
  const waiting = slots.acquire(controller.signal);
  controller.abort();
  await assert.rejects(waiting, { code: 'cancelled' });
  const next = slots.acquire(never);
  release();
  (await next)();
});

test('a call that has waited too long is refused and leaves the queue', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 1, waitMsMax: 1 });
  const release = await slots.acquire(never);
  await assert.rejects(slots.acquire(never), { code: 'too_many_in_flight' });
  release();
  (await slots.acquire(never))();
});

test('releasing a slot twice frees it once', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 0 });
  const release = await slots.acquire(never);
  release();
  release();
  await slots.acquire(never);
  await assert.rejects(slots.acquire(never), { code: 'too_many_in_flight' });
});

test('callers alternate, none takes all slots, and a full queue favours the caller with fewer waiting calls', async () => {
  const slots = createSlots({ runningMax: 3, waitingMax: 4, perCallerMax: 2 });
  const started: string[] = [];
  const leaves: (() => void)[] = [];
  const enter = (caller: string) =>
    asCaller(caller, () => slots.acquire(never)).then((leave) => {
      started.push(caller);
      leaves.push(leave);
    });
  const refused = { code: 'too_many_in_flight' };
  const flood = Array.from({ length: 6 }, () => enter('a'));
  const others = enter('b');
  await others;
  assert.deepEqual(started, ['a', 'a', 'b'], 'the third slot is not for the same caller');
  const [second, third] = [enter('b'), enter('c')];
  await Promise.all([flood[5], flood[4]].map((last) => assert.rejects(last as Promise<void>, refused)));
  await assert.rejects(enter('a'), refused);
  for (let count = 0; count < 7; count += 1) {
    leaves.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([second, third, flood[2], flood[3]]);
  assert.deepEqual(started.slice(3), ['a', 'b', 'c', 'a']);
});
