import type { MonotonicClock } from '../../base/sliding-window.ts';
import type { WordListing } from '../dialect.ts';
import { estimate } from './estimate.ts';

/** For which a share is good enough. */
const keptMs = 60_000;

const keptMax = 1000;

/** Filters with long values come seldom, and once. */
const lengthMax = 1000;

/** About the share of documents that pass a filter, for a while: to ask costs a way to the server and back. */
export function createFilterShares(clock: MonotonicClock = () => performance.now()): WordListing['shareOf'] {
  const kept = new Map<string, { readonly share: number; readonly at: number }>();
  return async (on, { name, owner }, { sql, values }) => {
    const key = JSON.stringify([name, sql, values]);
    const known = kept.get(key);
    if (known !== undefined && clock() - known.at < keptMs) return known.share;
    const all = await estimate(on, `carrel.${owner}`, { sql: 'TRUE', values: [] });
    const passing = await estimate(on, `(${sql})`, { sql: 'TRUE', values });
    const share = Math.min(1, Math.max(1, passing) / Math.max(1, all));
    if (kept.size >= keptMax) kept.clear();
    if (key.length <= lengthMax) kept.set(key, { share, at: clock() });
    return share;
  };
}
