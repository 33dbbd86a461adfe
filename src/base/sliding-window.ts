import type { Taken } from './shared-store.ts';

/** Monotonic milliseconds: a changed wall clock must neither free nor lock a caller. */
export type MonotonicClock = () => number;

export interface SlidingWindowOptions {
  limit: number;
  windowMs: number;
  clock?: MonotonicClock;
  /** Max callers remembered; the quietest are forgotten first. */
  keysMax?: number;
}

export interface SlidingWindow {
  /** Counts one call, or says how long until one fits. A refused call is not counted. */
  take(key: string): Taken;
  /** Milliseconds until a call of this caller fits; undefined if one fits now. Counts nothing. */
  wait(key: string): number | undefined;
}

/**
 * Exact times of the calls in the last window, per key. Limits are small (tens a minute), so exactness is cheap, and it makes
 * `retryAfter` true: a slot opens when the oldest call leaves the window. An operator's limit may be large, so the cost of a
 * call must not grow with the number of earlier calls.
 */
export function createSlidingWindow(options: SlidingWindowOptions): SlidingWindow {
  const { limit, windowMs, clock = () => performance.now(), keysMax = 10_000 } = options;
  // Keys by share of their limit used: a flood of one-time callers must not evict frequent ones.
  const quiet = new Map<string, number[]>();
  const busy = new Map<string, number[]>();

  const makeRoom = (now: number): void => {
    if (quiet.size + busy.size <= keysMax) return;
    const [oldest] = busy;
    const isOver = oldest !== undefined && now - (oldest[1].at(-1) ?? now) >= windowMs;
    const [forgotten] = (isOver || quiet.size === 0 ? busy : quiet).keys();
    if (forgotten === undefined) return;
    quiet.delete(forgotten);
    busy.delete(forgotten);
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
      const full = times.length >= limit;
      if (!full) times.push(now);
      // Deleting first moves the key to the end, so each map is in order of last use.
      quiet.delete(key);
      busy.delete(key);
      (2 * times.length >= limit ? busy : quiet).set(key, times);
      makeRoom(now);
      return full
        ? { ok: false, retryAfterMs: oldest === undefined ? windowMs : oldest + windowMs - now }
        : { ok: true };
    },
  };
}
