export interface Bounds {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What it fails with when the time is over. */
  overdue(): Error;
  /** What it fails with when the signal aborts. */
  abandoned?(signal: AbortSignal): Error;
}

/**
 * Waits for a worker, but not beyond the bounds: whichever is passed first ends the worker, because nothing else stops
 * what it is doing.
 */
export async function withinTime<T>(
  worker: { terminate(): Promise<void> },
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
  const timer = setTimeout(() => end(overdue()), timeoutMs);
  signal?.addEventListener('abort', abandon);
  if (signal?.aborted) abandon();
  try {
    return await Promise.race([promise, result]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abandon);
    // Whichever loses the race is nobody's business any more.
    result.catch(() => {});
    promise.catch(() => {});
  }
}
