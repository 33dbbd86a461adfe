import type { ThreadTime } from './thread-time.ts';

export interface Bounds {
  /** CPU time of a worker that knows it, else time in which this process ran. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What it fails with when the time is over. */
  overdue(): Error;
  /** What it fails with when the signal aborts. */
  abandoned?(signal: AbortSignal): Error;
}

export interface BoundedWorker {
  terminate(): Promise<void>;
  time?(): ThreadTime | undefined;
}

/** The time is counted in so many steps. */
const steps = 20;

/** A thread that does not compute, because it waits for a disk or hangs, gets so many times as long. */
const patience = 10;

/**
 * Waits for a worker, but not beyond the bounds: whichever is passed first ends the worker, because nothing else stops
 * what it is doing. A clock would also count the time in which the machine slept or the process was stopped.
 */
export async function withinTime<T>(
  worker: BoundedWorker,
  result: Promise<T>,
  { timeoutMs, signal, overdue, abandoned }: Bounds,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: unknown): void => {
    // First, because what ends with the worker is not the reason.
    reject(error);
    void worker.terminate();
  };
  const abandon = (): void => end(signal && (abandoned?.(signal) ?? signal.reason));
  const stepMs = Math.max(1, timeoutMs / steps);
  let ranMs = 0;
  let before: ThreadTime | undefined;
  const timer = setInterval(() => {
    // Due at once after a pause, and then one step later: a pause counts no more than a step.
    ranMs += stepMs;
    // Most calls are answered before the first step, and need not look.
    before ??= worker.time?.();
    if (ranMs >= timeoutMs && isOver()) end(overdue());
  }, stepMs);
  signal?.addEventListener('abort', abandon);
  if (signal?.aborted) abandon();
  try {
    return await Promise.race([promise, result]);
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', abandon);
    // Whichever loses the race is nobody's business any more.
    result.catch(() => {});
    promise.catch(() => {});
  }

  function isOver(): boolean {
    const now = worker.time?.();
    if (before === undefined || now === undefined) return true;
    const hadMs = ranMs - (now.queuedMs - before.queuedMs);
    return now.cpuMs - before.cpuMs >= timeoutMs || hadMs >= timeoutMs * patience;
  }
}
