import type { RateDecision, SharedStore } from './shared-store.ts';
import { createSlidingWindow, type SlidingWindowOptions } from './sliding-window.ts';

/** Counts a call, or returns how long to wait until one is allowed. A refused call is not counted. */
export interface CallCounter {
  take(key: string): RateDecision | Promise<RateDecision>;
}

/**
 * Creates a limit across all processes, counted in the database. A share per process would be too strict, because a load balancer
 * may send all calls of a caller to one process. While the database is unreachable, each process counts alone.
 */
export function createSharedWindow(shared: SharedStore, name: string, options: SlidingWindowOptions): CallCounter {
  const { limit, windowMs } = options;
  const localWindow = createSlidingWindow(options);
  return {
    take: (key) => shared.countCall({ key: `${name} ${key}`, limit, windowMs }).catch(() => localWindow.take(key)),
  };
}
