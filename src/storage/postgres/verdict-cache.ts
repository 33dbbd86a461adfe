import type { MonotonicClock } from '../../base/sliding-window.ts';
import type { VerdictCache } from '../dialect.ts';

/** For which a verdict is good enough. */
const keptMs = 60_000;

const keptMax = 1000;

/** Conditions with long values come seldom, and once. */
const lengthMax = 1000;

/** Verdicts on conditions for a while: to look costs a way to the server and back each time. */
export function createVerdictCache(clock: MonotonicClock = () => performance.now()): VerdictCache {
  const kept = new Map<string, { readonly isTrue: boolean; readonly at: number }>();
  return async ({ sql, values }, look) => {
    const key = JSON.stringify([sql, values]);
    const known = kept.get(key);
    if (known !== undefined && clock() - known.at < keptMs) return known.isTrue;
    const isTrue = await look();
    if (kept.size >= keptMax) kept.clear();
    if (key.length <= lengthMax) kept.set(key, { isTrue, at: clock() });
    return isTrue;
  };
}
