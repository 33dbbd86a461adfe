import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from './slots.ts';

const never = new AbortController().signal;

test('calls beyond the running ones wait in order, and more than may wait are refused with a time to come back', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 1 });
  const release = await slots.acquire(never);
  const waiting = slots.acquire(never);
  await assert.rejects(slots.acquire(never), { code: 'too_many_in_flight', retryAfterSeconds: 1 });
  release();
  const releaseWaiting = await waiting;
  releaseWaiting();
  (await slots.acquire(never))();
});

test('a call that is cancelled while it waits leaves the queue', async () => {
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

test('giving a slot back twice frees it once', async () => {
  const slots = createSlots({ runningMax: 1, waitingMax: 0 });
  const release = await slots.acquire(never);
  release();
  release();
  await slots.acquire(never);
  await assert.rejects(slots.acquire(never), { code: 'too_many_in_flight' });
});
