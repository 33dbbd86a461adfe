import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Warned } from './past-warnings.ts';

/** Number of entries that a semantic or hybrid search ranks, whatever the page. So pages neither overlap nor leave gaps. */
export const rankDepth = 500;

/**
 * How long a search waits for entries that were just stored and are being embedded. Without the wait, only keyword
 * search would find them.
 */
export const settleMs = 15_000;

/** The filter, or undefined if it matches everything. */
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

/** `semantic_distance` of mcp-context-server, between unit vectors: 0 for the same direction, 2 for the opposite. */
export function distanceOf(cosine: number): number {
  return Math.sqrt(Math.max(0, 2 - 2 * cosine));
}

export function pendingWarning(pending: number): Warned {
  if (pending === 0) return {};
  return {
    degraded: 'embeddings_pending',
    warnings: [`${pending} of the searched entries are not embedded yet, so only full-text search finds them`],
  };
}
