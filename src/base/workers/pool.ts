import type { CarrelError } from '../errors.ts';
import { createSlots } from '../slots.ts';

/** A thread or process that serves one caller at a time. */
export interface PooledWorker {
  /** False after the worker failed or was ended. Another one then replaces it. */
  readonly alive: boolean;
  /** Resolves when it has exited. */
  terminate(): Promise<void>;
}

export interface PoolConfig {
  readonly workersMax: number;
  /** Max callers waiting for a worker; more are refused. */
  readonly waitingMax: number;
  /** Max terminated workers that have not exited yet. With this many, calls that need a new worker are refused. */
  readonly lingeringMax?: number;
  /** Total time for which callers wait for busy workers before new workers are started. Default: 0. */
  readonly patienceMs?: number;
  /** An idle worker ends after this time. */
  readonly idleMs?: number;
  refusal(): CarrelError;
  closedError(): CarrelError;
}

export interface Pool<W> {
  /** Waits for a worker, then runs work with exclusive use of it. If the worker died, it is dropped afterwards. */
  use<T>(work: (worker: W) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Ends the workers, even while they work. Waiting callers are refused. */
  close(): Promise<void>;
}

/** Creates a pool that starts workers on demand. */
export function createPool<W extends PooledWorker>(config: PoolConfig, start: () => W): Pool<W> {
  const { workersMax, waitingMax, lingeringMax = Number.POSITIVE_INFINITY, idleMs } = config;
  const slots = createSlots({ runningMax: workersMax, waitingMax }, config.refusal);
  const idle: { worker: W; timer: NodeJS.Timeout | undefined }[] = [];
  const workers = new Set<W>();
  const lingering = new Set<W>();
  /** Callers that have a slot and wait for a busy worker. */
  const waiters: (() => void)[] = [];
  let patienceMs = config.patienceMs ?? 0;
  let closed = false;

  return {
    async use(work, signal) {
      if (closed) throw config.closedError();
      const releaseSlot = await slots.acquire(signal);
      try {
        if (idle.length === 0 && workers.size > 0 && patienceMs > 0) await waitForIdle();
        const worker = acquireWorker();
        try {
          return await work(worker);
        } finally {
          releaseWorker(worker);
        }
      } finally {
        releaseSlot();
      }
    },
    async close() {
      closed = true;
      for (const proceed of waiters.splice(0)) proceed();
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...workers, ...lingering].map((worker) => worker.terminate()));
    },
  };

  /** Resolves when a worker is idle, or when `patienceMs` is used up. */
  async function waitForIdle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const since = performance.now();
    const timer = setTimeout(resolve, patienceMs);
    waiters.push(resolve);
    await promise;
    clearTimeout(timer);
    const index = waiters.indexOf(resolve);
    if (index >= 0) waiters.splice(index, 1);
    patienceMs -= performance.now() - since;
  }

  function acquireWorker(): W {
    if (closed) throw config.closedError();
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      clearTimeout(next.timer);
      if (next.worker.alive) return next.worker;
      drop(next.worker);
    }
    if (lingering.size >= lingeringMax) throw config.refusal();
    const worker = start();
    workers.add(worker);
    return worker;
  }

  function releaseWorker(worker: W): void {
    if (closed || !worker.alive) drop(worker);
    else idle.push({ worker, timer: idleMs === undefined ? undefined : setTimeout(stop, idleMs).unref() });
    waiters.shift()?.();

    function stop(): void {
      idle.splice(
        idle.findIndex((each) => each.worker === worker),
        1,
      );
      drop(worker);
    }
  }

  function drop(worker: W): void {
    if (!workers.delete(worker)) return;
    lingering.add(worker);
    void worker.terminate().finally(() => lingering.delete(worker));
  }
}
