import type { SharedStore, Taken } from './shared-store.ts';
import { createSlidingWindow, type SlidingWindowOptions } from './sliding-window.ts';

/** Counts a call, or says how long until one fits. A refused call is not counted. */
export interface CallCounter {
  take(key: string): Taken | Promise<Taken>;
}

/**
 * A limit across all processes, counted in the database. Each process can't get a share of the limit, because a balancer may
 * send a caller to only one of them. While the database is unreachable, each process counts alone.
 */
export function createSharedWindow(shared: SharedStore, name: string, options: SlidingWindowOptions): CallCounter {
  const { limit, windowMs } = options;
  const own = createSlidingWindow(options);
  return {
    take: (key) => shared.take({ key: `${name} ${key}`, limit, windowMs }).catch(() => own.take(key)),
  };
}
