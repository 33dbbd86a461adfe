import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../errors.ts';
import { createPool, type PoolConfig, type PooledWorker } from './pool.ts';
import { withTimeout } from './with-timeout.ts';

interface TestWorker extends PooledWorker {
  readonly number: number;
  /** Ends a lingering worker. */
  end(): void;
}

/** Workers that linger after termination until the test ends them. */
function lingeringWorkers(): { started: TestWorker[]; start: () => TestWorker } {
  const started: TestWorker[] = [];
  return { started, start };

  function start(): TestWorker {
    const { promise, resolve } = Promise.withResolvers<void>();
    let alive = true;
    const worker: TestWorker = {
      number: started.length + 1,
      get alive() {
        return alive;
      },
      terminate() {
        alive = false;
        return promise;
      },
      end: resolve,
    };
    started.push(worker);
    return worker;
  }
}

const config: PoolConfig = {
  workersMax: 2,
  waitingMax: 1000,
  refusal: () => new CarrelError('storage_busy', 'Too many.'),
  closedError: () => new CarrelError('unavailable', 'Closed.'),
};

const never = () => new Promise<never>(() => {});

/** Each call's answer or error code. All calls must end. */
async function endings(calls: Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code));
}

test('starts workers on demand and reuses them', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool(config, start);
  const numbers = await Promise.all([1, 2, 3, 4].map(() => pool.use(async ({ number }) => number)));
  assert.deepEqual([new Set(numbers).size, started.length], [2, 2]);
  assert.equal(await pool.use(async () => 'again'), 'again');
  assert.equal(started.length, 2);
});

test('replaces a dead worker, busy or idle', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool({ ...config, workersMax: 1 }, start);
  await pool.use(async (worker) => void worker.terminate());
  assert.equal(await pool.use(async ({ number }) => number), 2);
  started[1]?.terminate();
  assert.equal(await pool.use(async ({ number }) => number), 3);
});

// Under overload, 3 of these 14 were left waiting forever.
test('refuses waiting callers when lingering workers block new ones', { timeout: 60_000 }, async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool({ ...config, lingeringMax: 8 }, start);
  const timeoutError = () => new CarrelError('query_timeout', 'Too long.');
  const call = () => pool.use((worker) => withTimeout(worker, never(), { timeoutMs: 1, timeoutError }));
  const ends = await endings(Array.from({ length: 14 }, call));
  assert.equal(ends.filter((end) => end === 'query_timeout').length, started.length);
  assert.equal(ends.filter((end) => end === 'storage_busy').length, 14 - started.length);
  assert.ok(started.length >= 8);

  for (const worker of started) worker.end();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await pool.use(async () => 'room again'), 'room again');
});

// On close, 2 of these 4 were left waiting forever.
test('closing ends the workers and refuses waiting callers', { timeout: 60_000 }, async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool(config, start);
  const stopped = Promise.withResolvers<never>();
  const calls = endings(Array.from({ length: 4 }, () => pool.use(() => stopped.promise)));
  await new Promise((resolve) => setImmediate(resolve));
  const closing = pool.close();
  stopped.reject(new CarrelError('cancelled', 'Ended.'));
  assert.deepEqual(await calls, ['cancelled', 'cancelled', 'unavailable', 'unavailable']);
  await assert.rejects(
    pool.use(async () => 'late'),
    { code: 'unavailable' },
  );
  for (const worker of started) worker.end();
  await closing;
});

test('a failed start fails only its caller', async () => {
  let fails = true;
  const { start } = lingeringWorkers();
  const pool = createPool({ ...config, workersMax: 1 }, () => {
    if (fails) {
      fails = false;
      throw new CarrelError('unavailable', 'No thread.');
    }
    return start();
  });
  const ends = await endings([pool.use(async () => 'first'), pool.use(async () => 'second')]);
  assert.deepEqual(ends, ['unavailable', 'second']);
});

test('a caller that gives up leaves the queue', async () => {
  const { start } = lingeringWorkers();
  const pool = createPool({ ...config, workersMax: 1, waitingMax: 1 }, start);
  const first = Promise.withResolvers<string>();
  const gone = new AbortController();
  const calls = endings([pool.use(() => first.promise), pool.use(async () => 'never', gone.signal)]);
  await assert.rejects(
    pool.use(async () => 'one too many'),
    { code: 'storage_busy' },
  );
  gone.abort();
  const third = pool.use(async () => 'third');
  first.resolve('first');
  assert.deepEqual(await calls, ['first', 'cancelled']);
  assert.equal(await third, 'third');
});

test('a caller that gives up ends its worker', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool(config, start);
  const gone = new AbortController();
  const timeoutError = () => new Error('overdue');
  const call = pool.use((worker) =>
    withTimeout(worker, never(), { timeoutMs: 60_000, signal: gone.signal, timeoutError }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  gone.abort(new CarrelError('cancelled', 'Gone.'));
  await assert.rejects(call, { code: 'cancelled' });
  assert.equal(started[0]?.alive, false);
});

test('waits for a busy worker rather than starting another', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool({ ...config, patienceMs: 600_000 }, start);
  const first = Promise.withResolvers<string>();
  const calls = endings([pool.use(() => first.promise), pool.use(async ({ number }) => number)]);
  first.resolve('first');
  assert.deepEqual(await calls, ['first', 1]);
  assert.equal(started.length, 1);
});

test('starts another worker once the total wait exceeds the limit', async () => {
  const { start } = lingeringWorkers();
  const pool = createPool({ ...config, patienceMs: 1 }, start);
  const first = Promise.withResolvers<string>();
  const busy = pool.use(() => first.promise);
  assert.equal(await pool.use(async ({ number }) => number), 2);
  first.resolve('first');
  assert.equal(await busy, 'first');
});

test('closing refuses a caller that waits for a busy worker', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool({ ...config, patienceMs: 600_000 }, start);
  const stopped = Promise.withResolvers<never>();
  const calls = endings([pool.use(() => stopped.promise), pool.use(async () => 'late')]);
  await new Promise((resolve) => setImmediate(resolve));
  const closing = pool.close();
  stopped.reject(new CarrelError('cancelled', 'Ended.'));
  assert.deepEqual(await calls, ['cancelled', 'unavailable']);
  for (const worker of started) worker.end();
  await closing;
});

test('ends workers that were idle for too long', async () => {
  const { started, start } = lingeringWorkers();
  const pool = createPool({ ...config, idleMs: 1 }, start);
  await pool.use(async () => {});
  while (started[0]?.alive) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await pool.use(async ({ number }) => number), 2);
});
