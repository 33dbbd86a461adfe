import { CarrelError } from '../base/errors.ts';
import type { RateDecision } from '../base/shared-store.ts';
import type { CallCounter } from '../base/shared-window.ts';

/** Max calls per caller in a sliding window. */
export interface Quota {
  limit: number;
  windowMs: number;
  /** Counts the calls. Set it if calls of other toolsets, such as `find`, count too. */
  window?: CallCounter;
}

/**
 * Counts a call, or throws if the quota is used up. Returns a promise only if calls are counted outside this process.
 */
export function countCall(
  window: CallCounter,
  category: string,
  quota: Quota,
  callerId: string,
): Promise<void> | undefined {
  const result = window.take(callerId);
  if (result instanceof Promise) return result.then((counted) => check(counted, category, quota));
  check(result, category, quota);
  return undefined;
}

function check(result: RateDecision, category: string, quota: Quota): void {
  if (result.ok) return;
  const retryAfter = Math.ceil(result.retryAfterMs / 1000);
  const span = quota.windowMs === 60_000 ? '1 minute' : `${quota.windowMs / 1000} seconds`;
  throw new CarrelError(
    'rate_limit_exceeded',
    `Rate limit exceeded: at most ${quota.limit} ${category} calls in ${span}. Try again in ${retryAfter} s.`,
    { retryAfterSeconds: retryAfter, data: { details: { category, limit: quota.limit, window: span, retryAfter } } },
  );
}
