/** Monotonic milliseconds: a wall clock that is set back must neither free nor lock a caller. */
export type MonotonicClock = () => number;

export interface SlidingWindowOptions {
  limit: number;
  windowMs: number;
  clock?: MonotonicClock;
  /** Callers that are remembered at the same time; beyond that, the one idle longest is forgotten. */
  keysMax?: number;
}

export interface SlidingWindow {
  /** Counts one call of this caller, or says how long until one fits. A refused call is not counted. */
  take(key: string): { ok: true } | { ok: false; retryAfterMs: number };
}

/**
 * An exact log of the calls in the last window, per key. Exactness is affordable because limits are small (tens a
 * minute), and it is what makes `retryAfter` true: a slot opens when the oldest counted call leaves the window.
 */
export function createSlidingWindow(options: SlidingWindowOptions): SlidingWindow {
  const { limit, windowMs, clock = () => performance.now(), keysMax = 10_000 } = options;
  const calls = new Map<string, number[]>();

  return {
    take(key) {
      const now = clock();
      const times = (calls.get(key) ?? []).filter((time) => now - time < windowMs);
      const oldest = times[times.length - limit];
      const full = times.length >= limit;
      if (!full) times.push(now);
      // Deleting first moves the key to the end: the map's order is the order of last use.
      calls.delete(key);
      calls.set(key, times);
      if (calls.size > keysMax) forgetQuietest(calls);
      return full
        ? { ok: false, retryAfterMs: oldest === undefined ? windowMs : oldest + windowMs - now }
        : { ok: true };
    },
  };
}

function forgetQuietest(calls: Map<string, number[]>): void {
  const [quietest] = calls.keys();
  if (quietest !== undefined) calls.delete(quietest);
}
