import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestRequest } from '../../../test/support/test-thread.ts';
import { withTimeout } from './with-timeout.ts';
import { createWorkerCalls } from './worker-calls.ts';

const from = new URL('../../../test/support/', import.meta.url).href;
const timeoutError = () => new Error('overdue');

async function ask(request: TestRequest, timeoutMs: number, signal?: AbortSignal) {
  const exitError = () => new Error('lost');
  const thread = createWorkerCalls<TestRequest, unknown>({ from, file: 'test-thread', name: 'test', exitError });
  await thread.ready();
  const [outcome] = await Promise.allSettled([
    withTimeout(thread, thread.call(request), { timeoutMs, signal, timeoutError }),
  ]);
  const { alive } = thread;
  await thread.terminate();
  return { outcome, alive };
}

test('ends a thread that exceeds its CPU time', async () => {
  const { outcome, alive } = await ask({ kind: 'spin' }, 50);
  assert.deepEqual([outcome.status, alive], ['rejected', false]);
  assert.match(String(outcome.status === 'rejected' && outcome.reason), /overdue/);
});

test('a thread that gets no core may take longer', {
  skip: process.platform !== 'linux' && 'thread CPU time is known on Linux only',
}, async () => {
  const { outcome, alive } = await ask({ kind: 'wait', ms: 400 }, 200);
  assert.deepEqual([outcome.status, alive], ['fulfilled', true]);
});

test('ends a thread that never answers although it computes nothing', async () => {
  const { outcome, alive } = await ask({ kind: 'never' }, 20);
  assert.deepEqual([outcome.status, alive], ['rejected', false]);
});
