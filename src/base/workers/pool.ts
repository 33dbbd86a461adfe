import type { CarrelError } from '../errors.ts';
import { createSlots } from '../slots.ts';

/** A thread or a process that works for one caller at a time. */
export interface PooledWorker {
  /** False once it failed or was ended: another takes its place. */
  readonly alive: boolean;
  /** Resolves when it has ended. */
  terminate(): Promise<void>;
}

export interface PoolConfig {
  readonly workersMax: number;
  /** Those who may wait for a worker; more are refused. */
  readonly waitingMax: number;
  /** Workers that were ended may go on for a while. With so many of them, whoever needs a new one is refused. */
  readonly lingeringMax?: number;
  /** A worker without work ends after this time. */
  readonly idleMs?: number;
  refused(): CarrelError;
  closed(): CarrelError;
}

export interface Pool<W> {
  /** Waits for a worker, in order, and has it to itself. A worker that is dead afterwards is dropped. */
  use<T>(work: (worker: W) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Ends the workers, and with them what they are doing; whoever waits is refused. */
  close(): Promise<void>;
}

/** Workers that are started as they are needed. */
export function createPool<W extends PooledWorker>(config: PoolConfig, start: () => W): Pool<W> {
  const { workersMax, waitingMax, lingeringMax = Number.POSITIVE_INFINITY, idleMs } = config;
  const slots = createSlots({ runningMax: workersMax, waitingMax }, config.refused);
  const idle: { worker: W; timer: NodeJS.Timeout | undefined }[] = [];
  const workers = new Set<W>();
  const lingering = new Set<W>();
  let closed = false;

  return {
    async use(work, signal) {
      if (closed) throw config.closed();
      const leave = await slots.acquire(signal);
      // Whatever happens from here on, the next in line gets its turn.
      try {
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
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...workers, ...lingering].map((worker) => worker.terminate()));
    },
  };

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
