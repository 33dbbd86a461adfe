import { CarrelError } from '../base/errors.ts';
import type { SlidingWindow } from '../base/sliding-window.ts';

/** A number of calls in a sliding window, counted per caller. */
export interface Quota {
  limit: number;
  windowMs: number;
  /** The counter, if other work than this toolset's calls counts too; otherwise the funnel makes one. */
  window?: SlidingWindow;
}

/** Counts one call of this caller, or refuses it. */
export function spend(window: SlidingWindow, category: string, quota: Quota, callerId: string): void {
  const taken = window.take(callerId);
  if (taken.ok) return;
  const retryAfter = Math.ceil(taken.retryAfterMs / 1000);
  const span = quota.windowMs === 60_000 ? '1 minute' : `${quota.windowMs / 1000} seconds`;
  throw new CarrelError(
    'rate_limit_exceeded',
    `Rate limit exceeded: at most ${quota.limit} ${category} calls in ${span}. Try again in ${retryAfter} s.`,
    { retryAfterSeconds: retryAfter, data: { details: { category, limit: quota.limit, window: span, retryAfter } } },
  );
}
