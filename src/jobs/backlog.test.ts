import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBacklog } from './backlog.ts';

test('works until nothing is left, and again when woken', async () => {
  let left = 3;
  let done = 0;
  const backlog = createBacklog({
    async doPart() {
      if (left === 0) return false;
      left -= 1;
      done += 1;
      return true;
    },
    onFailure: () => assert.fail(),
  });
  backlog.wake();
  await backlog.whenIdle(60_000);
  assert.equal(done, 3);
  left = 1;
  backlog.wake();
  await backlog.whenIdle(60_000);
  assert.equal(done, 4);
  await backlog.close();
  left = 1;
  backlog.wake();
  assert.equal(done, 4, 'starts nothing after close');
});

test('notices work that arrives during the last step', async () => {
  const gate = Promise.withResolvers<void>();
  let left = 1;
  let calls = 0;
  const backlog = createBacklog({
    async doPart() {
      calls += 1;
      if (calls === 1) await gate.promise;
      if (left === 0) return false;
      left -= 1;
      return true;
    },
    onFailure: () => assert.fail(),
  });
  backlog.wake();
  backlog.wake();
  gate.resolve();
  await backlog.whenIdle(60_000);
  await new Promise(setImmediate);
  await backlog.whenIdle(60_000);
  assert.equal(left, 0);
  assert.ok(calls >= 3);
  await backlog.close();
});

test('logs a failure once and retries it, and close does not wait for it', async () => {
  const failures: unknown[] = [];
  const failed = Promise.withResolvers<void>();
  let broken = true;
  const backlog = createBacklog({
    async doPart() {
      if (broken) throw new Error('away');
      return false;
    },
    onFailure(error) {
      failures.push(error);
      failed.resolve();
    },
  });
  backlog.wake();
  await failed.promise;
  await new Promise(setImmediate);
  assert.equal(backlog.available, false);
  await backlog.whenIdle(60_000);
  broken = false;
  await backlog.close();
  assert.equal(failures.length, 1);
});
