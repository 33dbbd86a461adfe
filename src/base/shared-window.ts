import type { SharedStore, Taken } from './shared-store.ts';
import { createSlidingWindow, type SlidingWindowOptions } from './sliding-window.ts';

/** Counts a call of a caller, or says how long until one fits. A refused call is not counted. */
export interface CallCounter {
  take(key: string): Taken | Promise<Taken>;
}

/**
 * A limit for all processes together. They count in the database, because any share of it for each would be wrong where a
 * balancer sends a caller to one of them only. While the database is away, each counts for itself.
 */
export function createSharedWindow(shared: SharedStore, name: string, options: SlidingWindowOptions): CallCounter {
  const { limit, windowMs } = options;
  const own = createSlidingWindow(options);
  return {
    take: (key) => shared.take({ key: `${name} ${key}`, limit, windowMs }).catch(() => own.take(key)),
  };
}
