import type { RateDecision } from './shared-store.ts';

/** Returns monotonic milliseconds, because a change of the system time must neither lift nor extend a limit. */
export type MonotonicClock = () => number;

export interface SlidingWindowOptions {
  limit: number;
  windowMs: number;
  clock?: MonotonicClock;
  /** Max keys in memory; those with the fewest calls are evicted first. */
  keysMax?: number;
}

export interface SlidingWindow {
  /** Counts one call, or returns how long to wait until one is allowed. A refused call is not counted. */
  take(key: string): RateDecision;
  /** Returns the milliseconds until a call with this key is allowed; undefined if one is allowed now. Counts nothing. */
  wait(key: string): number | undefined;
}

/**
 * Creates a limit that stores the time of each call in the last window, per key. The next call is allowed when the oldest leaves
 * the window. The cost of `take` must not grow with the number of earlier calls, because operators may set large limits.
 */
export function createSlidingWindow(options: SlidingWindowOptions): SlidingWindow {
  const { limit, windowMs, clock = () => performance.now(), keysMax = 10_000 } = options;
  // `busy` has the keys that used at least half of their limit. A flood of one-time callers must not evict them.
  const quiet = new Map<string, number[]>();
  const busy = new Map<string, number[]>();

  const evictOne = (now: number): void => {
    if (quiet.size + busy.size <= keysMax) return;
    const [oldest] = busy;
    const isExpired = oldest !== undefined && now - (oldest[1].at(-1) ?? now) >= windowMs;
    const [evicted] = (isExpired || quiet.size === 0 ? busy : quiet).keys();
    if (evicted === undefined) return;
    quiet.delete(evicted);
    busy.delete(evicted);
  };

  return {
    wait(key) {
      const now = clock();
      const times = (busy.get(key) ?? quiet.get(key) ?? []).filter((time) => now - time < windowMs);
      const oldest = times[times.length - limit];
      return oldest === undefined ? undefined : oldest + windowMs - now;
    },
    take(key) {
      const now = clock();
      const times = busy.get(key) ?? quiet.get(key) ?? [];
      const firstInWindow = times.findIndex((time) => now - time < windowMs);
      if (firstInWindow !== 0) times.splice(0, firstInWindow === -1 ? times.length : firstInWindow);
      const oldest = times[times.length - limit];
      const isFull = times.length >= limit;
      if (!isFull) times.push(now);
      // Deleting first moves the key to the end, so each map is in order of last use.
      quiet.delete(key);
      busy.delete(key);
      (2 * times.length >= limit ? busy : quiet).set(key, times);
      evictOne(now);
      return isFull
        ? { ok: false, retryAfterMs: oldest === undefined ? windowMs : oldest + windowMs - now }
        : { ok: true };
    },
  };
}
