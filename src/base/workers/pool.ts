import type { CarrelError } from '../errors.ts';
import { createSlots } from '../slots.ts';

/** A thread or process that serves one caller at a time. */
export interface PooledWorker {
  /** False after it failed or was ended: another replaces it. */
  readonly alive: boolean;
  /** Resolves when it has exited. */
  terminate(): Promise<void>;
}

export interface PoolConfig {
  readonly workersMax: number;
  /** Max callers waiting for a worker; more are refused. */
  readonly waitingMax: number;
  /** Terminated workers may linger. With this many, callers that need a new one are refused. */
  readonly lingeringMax?: number;
  /** Callers wait this long in all for a busy worker; from then on they start another at once. Default: at once. */
  readonly patienceMs?: number;
  /** An idle worker ends after this time. */
  readonly idleMs?: number;
  refused(): CarrelError;
  closed(): CarrelError;
}

export interface Pool<W> {
  /** Waits for a worker, in order, and has exclusive use of it. A dead worker is dropped afterwards. */
  use<T>(work: (worker: W) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Ends the workers and their work; waiting callers are refused. */
  close(): Promise<void>;
}

/** Starts workers on demand. */
export function createPool<W extends PooledWorker>(config: PoolConfig, start: () => W): Pool<W> {
  const { workersMax, waitingMax, lingeringMax = Number.POSITIVE_INFINITY, idleMs } = config;
  const slots = createSlots({ runningMax: workersMax, waitingMax }, config.refused);
  const idle: { worker: W; timer: NodeJS.Timeout | undefined }[] = [];
  const workers = new Set<W>();
  const lingering = new Set<W>();
  /** Callers with a slot that wait for a worker. */
  const patient: (() => void)[] = [];
  let patienceMs = config.patienceMs ?? 0;
  let closed = false;

  return {
    async use(work, signal) {
      if (closed) throw config.closed();
      const leave = await slots.acquire(signal);
      // Whatever happens below, the next in line must be served.
      try {
        if (idle.length === 0 && workers.size > 0 && patienceMs > 0) await idleWorker();
        const worker = take();
        try {
          return await work(worker);
        } finally {
          rest(worker);
        }
      } finally {
        leave();
      }
    },
    async close() {
      closed = true;
      for (const proceed of patient.splice(0)) proceed();
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...workers, ...lingering].map((worker) => worker.terminate()));
    },
  };

  /** Resolves when a worker is idle, or when patience has run out. */
  async function idleWorker(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const since = performance.now();
    const timer = setTimeout(resolve, patienceMs);
    patient.push(resolve);
    await promise;
    clearTimeout(timer);
    const place = patient.indexOf(resolve);
    if (place >= 0) patient.splice(place, 1);
    patienceMs -= performance.now() - since;
  }

  function take(): W {
    if (closed) throw config.closed();
    for (let free = idle.pop(); free !== undefined; free = idle.pop()) {
      clearTimeout(free.timer);
      if (free.worker.alive) return free.worker;
      drop(free.worker);
    }
    if (lingering.size >= lingeringMax) throw config.refused();
    const worker = start();
    workers.add(worker);
    return worker;
  }

  function rest(worker: W): void {
    if (closed || !worker.alive) drop(worker);
    else idle.push({ worker, timer: idleMs === undefined ? undefined : setTimeout(stop, idleMs).unref() });
    patient.shift()?.();

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
