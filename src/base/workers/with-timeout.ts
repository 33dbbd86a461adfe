import type { ThreadTime } from './thread-time.ts';

export interface Bounds {
  /** Max CPU time if the worker reports it, otherwise max time in which this process ran. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  timeoutError(): Error;
  /** Default: the signal's reason. */
  abortError?(signal: AbortSignal): Error;
}

export interface BoundedWorker {
  terminate(): Promise<void>;
  time?(): ThreadTime | undefined;
}

/** Number of checks during the timeout. */
const steps = 20;

/** A thread that waits instead of computing, for example for a slow disk, gets this multiple of the timeout. */
const waitFactor = 10;

/**
 * Waits for a worker's result. A timeout or abort terminates the worker, because nothing else stops it. Time in which the
 * machine sleeps or the process is stopped does not count.
 */
export async function withTimeout<T>(
  worker: BoundedWorker,
  result: Promise<T>,
  { timeoutMs, signal, timeoutError, abortError }: Bounds,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: unknown): void => {
    // Rejects before terminating: the worker's own failure must not hide the reason.
    reject(error);
    void worker.terminate();
  };
  const abort = (): void => end(signal && (abortError?.(signal) ?? signal.reason));
  const stepMs = Math.max(1, timeoutMs / steps);
  let ranMs = 0;
  let initialTime: ThreadTime | undefined;
  const timer = setInterval(() => {
    // After a pause the timer fires once, so a pause counts as one step.
    ranMs += stepMs;
    // Read at the first step, because most calls are answered before it.
    initialTime ??= worker.time?.();
    if (ranMs >= timeoutMs && isTimeUsedUp()) end(timeoutError());
  }, stepMs);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    return await Promise.race([promise, result]);
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
    // The loser of the race is ignored.
    result.catch(() => {});
    promise.catch(() => {});
  }

  function isTimeUsedUp(): boolean {
    const now = worker.time?.();
    if (initialTime === undefined || now === undefined) return true;
    const scheduledMs = ranMs - (now.queuedMs - initialTime.queuedMs);
    return now.cpuMs - initialTime.cpuMs >= timeoutMs || scheduledMs >= timeoutMs * waitFactor;
  }
}
