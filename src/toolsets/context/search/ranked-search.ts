import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Warned } from './past-warnings.ts';

/**
 * How many entries a semantic or hybrid search ranks, whichever page is asked for. So the order never depends on the page,
 * and pages neither overlap nor leave gaps.
 */
export const rankDepth = 500;

/**
 * How long such a search waits for entries that were just stored and are still being embedded. Without the wait, it could
 * find them only by words; embedding them at the time of storing would have taken as long.
 */
export const settleMs = 15_000;

/** The filter, unless it lets everything through. */
export function neededFilter(filter: EntryFilter): EntryFilter | undefined {
  return Object.values(filter).every((value) => value === undefined) ? undefined : filter;
}

/** The database's query plan for a filter. */
export async function planOf(
  entries: EntryStore,
  filter: EntryFilter,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { plan } = await entries.list({ filter, limit: 1, offset: 0, images: false, explain: true }, { signal });
  return plan;
}

/** 002, `semantic_distance`: between vectors of unit length, 0 for the same direction and 2 for the opposite one. */
export function distanceOf(cosine: number): number {
  return Math.sqrt(Math.max(0, 2 - 2 * cosine));
}

export function pendingWarning(pending: number): Warned {
  if (pending === 0) return {};
  return {
    degraded: 'embeddings_pending',
    warnings: [
      `${pending} of the entries that were searched are not embedded yet and are not found by meaning; full-text search finds them`,
    ],
  };
}
