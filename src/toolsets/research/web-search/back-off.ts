import type { MonotonicClock } from '../../../base/sliding-window.ts';
import type { ProviderFailure } from './search-provider.ts';

/** `ready`: ask. `resting`: failed recently, ask others first. `closed`: asked not to be called before a certain time. */
export type Readiness = 'ready' | 'resting' | 'closed';

export interface BackOff {
  readiness(): Readiness;
  /** Until it is ready again. */
  waitMs(): number;
  succeeded(): void;
  failed(failure: ProviderFailure): void;
}

/** A block lasts minutes and grows with every further request; an outage may end at any moment. */
const firstRestMs = { blocked: 30_000, timeout: 2_000, failed: 2_000 };
const restMsMax = { blocked: 10 * 60_000, timeout: 30_000, failed: 30_000 };
/** Longer times that a provider asks for are limited to this. */
const namedMsMax = 10 * 60_000;

/** Remembers a provider's failures: each one in a row doubles the time for which others are preferred. */
export function createBackOff(clock: MonotonicClock): BackOff {
  let streak = 0;
  let restsUntil = 0;
  let closedUntil = 0;
  return {
    readiness() {
      const now = clock();
      if (now < closedUntil) return 'closed';
      return now < restsUntil ? 'resting' : 'ready';
    },
    waitMs: () => Math.max(0, Math.max(restsUntil, closedUntil) - clock()),
    succeeded() {
      streak = 0;
      restsUntil = 0;
      closedUntil = 0;
    },
    failed({ reason, retryAfterSeconds }) {
      const now = clock();
      restsUntil = now + Math.min(firstRestMs[reason] * 2 ** streak, restMsMax[reason]);
      streak = Math.min(streak + 1, 20);
      if (retryAfterSeconds !== undefined) closedUntil = now + Math.min(retryAfterSeconds * 1000, namedMsMax);
    },
  };
}
