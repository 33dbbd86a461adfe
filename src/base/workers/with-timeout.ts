import type { ThreadTime } from './thread-time.ts';

export interface Bounds {
  /** Max CPU time if the worker reports it, otherwise max time in which this process ran. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The error on timeout. */
  overdue(): Error;
  /** The error when the signal aborts. */
  abandoned?(signal: AbortSignal): Error;
}

export interface BoundedWorker {
  terminate(): Promise<void>;
  time?(): ThreadTime | undefined;
}

/** Number of checks during the timeout. */
const steps = 20;

/** A thread that waits instead of computing (slow disk, hang) gets the timeout times this. */
const patience = 10;

/**
 * Waits for a worker's result. A timeout or abort terminates the worker, because nothing else stops it. The timeout is not
 * wall-clock time, which includes time in which the machine slept or the process was stopped.
 */
export async function withTimeout<T>(
  worker: BoundedWorker,
  result: Promise<T>,
  { timeoutMs, signal, overdue, abandoned }: Bounds,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: unknown): void => {
    // Rejects before terminating: the worker's own failure must not hide the reason.
    reject(error);
    void worker.terminate();
  };
  const abandon = (): void => end(signal && (abandoned?.(signal) ?? signal.reason));
  const stepMs = Math.max(1, timeoutMs / steps);
  let ranMs = 0;
  let before: ThreadTime | undefined;
  const timer = setInterval(() => {
    // After a pause the timer fires once, so a pause counts as one step.
    ranMs += stepMs;
    // Read at the first step: most calls are answered before that and skip it.
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
    // The loser of the race is ignored.
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
