import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createDurableQueue, type JobSource } from './durable-queue.ts';

interface Job {
  readonly id: number;
}

/** An in-memory queue; the test ends its jobs. */
function source(count: number) {
  const waiting = Array.from({ length: count }, (_, id): Job => ({ id }));
  const begun = new Map<number, { signal: AbortSignal; end(error?: Error): void }>();
  const watchers = new Set<() => void>();
  const counts = { recovered: 0, requeued: 0, isOurs: true };
  const jobs: JobSource<Job> = {
    claim: async () => waiting.shift(),
    renew: async () => counts.isOurs,
    perform: (job, signal) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve());
        signal.addEventListener('abort', () => end());
        begun.set(job.id, { signal, end });
        for (const watch of watchers) watch();
      }),
    recover: async () => {
      counts.recovered += 1;
    },
    requeueOwn: async () => {
      counts.requeued += 1;
    },
  };
  const started = async (id: number) => {
    while (!begun.has(id)) await new Promise<void>((resolve) => watchers.add(resolve));
    const job = begun.get(id);
    assert.ok(job);
    return job;
  };
  return { jobs, waiting, begun, counts, started };
}

const config = { workers: 2, leaseMs: 60_000, pollMs: 60_000 };

test('runs a bounded number of jobs at the same time and starts the next when one ends', async () => {
  const { jobs, begun, counts, started } = source(3);
  const queue = createDurableQueue(config, jobs, silentLogger);
  await started(1);
  assert.equal(begun.has(2), false);
  begun.get(0)?.end();
  await started(2);
  assert.equal(counts.recovered, 1, 'recovers the jobs of dead processes first');
  await queue.close();
});

test('a crashing job does not keep others from running', async () => {
  const { jobs, begun, started } = source(3);
  const queue = createDurableQueue({ ...config, workers: 1 }, jobs, silentLogger);
  await started(0);
  begun.get(0)?.end(new Error('broken'));
  begun.set(0, { signal: AbortSignal.abort(), end: () => {} });
  assert.ok(await started(1));
  await queue.close();
});

test('waking finds new jobs without waiting for the next poll', async () => {
  const { jobs, waiting, started } = source(0);
  const queue = createDurableQueue(config, jobs, silentLogger);
  waiting.push({ id: 7 });
  queue.wake();
  assert.ok(await started(7));
  await queue.close();
});

test('stops a job that is aborted or has lost its lease', async () => {
  const { jobs, counts, started } = source(2);
  const queue = createDurableQueue({ ...config, leaseMs: 30 }, jobs, silentLogger);
  const [first, second] = [await started(0), await started(1)];
  queue.abort(0);
  assert.equal(first.signal.aborted, true);
  assert.equal(second.signal.aborted, false);
  counts.isOurs = false;
  if (!second.signal.aborted) await new Promise((resolve) => second.signal.addEventListener('abort', resolve));
  await queue.close();
});

test('closing stops running jobs, requeues them and starts nothing', async () => {
  const { jobs, waiting, counts, started } = source(5);
  const queue = createDurableQueue(config, jobs, silentLogger);
  const first = await started(0);
  await started(1);
  await queue.close();
  assert.equal(first.signal.aborted, true);
  assert.deepEqual([waiting.length, counts.requeued], [3, 1]);
  queue.wake();
  assert.equal(waiting.length, 3);
});

test('retries a queue that cannot be read', async () => {
  const { jobs, started } = source(1);
  let failures = 1;
  const flaky: JobSource<Job> = {
    ...jobs,
    async claim(quick) {
      failures -= 1;
      if (failures >= 0) throw new Error('the database is away');
      return jobs.claim(quick);
    },
  };
  const queue = createDurableQueue(config, flaky, silentLogger);
  queue.wake();
  queue.wake();
  assert.ok(await started(0));
  await queue.close();
});

test('starts one extra quick job while slow jobs occupy all workers', async () => {
  const { jobs, begun, started } = source(5);
  const quickClaims: boolean[] = [];
  const recordingJobs: JobSource<Job> = {
    ...jobs,
    async claim(quick) {
      quickClaims.push(quick);
      return jobs.claim(quick);
    },
  };
  const queue = createDurableQueue({ ...config, quickJobAfterMs: 0 }, recordingJobs, silentLogger);
  await started(2);
  assert.deepEqual([...begun.keys()], [0, 1, 2], 'one, and not one more');
  assert.deepEqual(quickClaims, [false, false, true]);
  begun.get(2)?.end();
  await started(3);
  assert.deepEqual(quickClaims.slice(3), [true]);
  begun.get(0)?.end();
  await started(4);
  assert.deepEqual(quickClaims.slice(4, 5), [false], 'a free slot takes any job');
  await queue.close();
});

test('the first poll may be delayed, and waking runs it immediately', async () => {
  const later = source(1);
  const slow = createDurableQueue({ ...config, firstPollMs: 60_000 }, later.jobs, silentLogger);
  assert.equal(later.counts.recovered, 0);
  slow.wake();
  assert.ok(await later.started(0));
  await slow.close();

  const soon = source(1);
  const keepAlive = setInterval(() => {}, 1000);
  const queue = createDurableQueue({ ...config, firstPollMs: 1 }, soon.jobs, silentLogger);
  assert.ok(await soon.started(0));
  clearInterval(keepAlive);
  await queue.close();
});

test('a queue closed before its first poll does not touch the storage', async () => {
  const { jobs, waiting, counts } = source(1);
  const queue = createDurableQueue({ ...config, firstPollMs: 60_000 }, jobs, silentLogger);
  await queue.close();
  assert.deepEqual([waiting.length, counts.recovered, counts.requeued], [1, 0, 0]);
});
