import assert from 'node:assert/strict';
import { once } from 'node:events';
import { beforeEach, type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { TestRequest } from '../../../test/support/test-thread.ts';
import { createModelThreads } from './model-threads.ts';

const wait: TestRequest = { kind: 'wait', ms: 1 };

const exits: Promise<unknown>[] = [];
process.on('worker', (worker: Worker) => exits.push(once(worker, 'exit')));
beforeEach(() => exits.splice(0));

function startThreads(t: TestContext, idleMs: number) {
  const threads = createModelThreads<TestRequest, unknown>({
    from: new URL('../../../test/support/', import.meta.url).href,
    file: 'test-thread',
    name: 'test',
    workerData: { modelFolder: '' },
    threads: 2,
    queuedMax: 1000,
    timeoutMs: 60_000,
    idleMs,
    model: 'embedding',
  });
  t.after(() => threads.close());
  return threads;
}

test('few requests share a thread, many start another one, and it ends when idle', async (t) => {
  const threads = startThreads(t, 1);
  await Promise.all([threads.run([wait]), threads.run([wait]), threads.run([wait])]);
  assert.equal(exits.length, 1);
  await threads.run(Array.from({ length: 8 }, () => wait));
  assert.equal(exits.length, 2);
  await Promise.race(exits);
  await threads.run([wait, wait]);
  assert.equal(exits.length, 2, 'the other thread still answers');
});
