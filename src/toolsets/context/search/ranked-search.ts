import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { SearchWarnings } from './search-answer.ts';

/**
 * Number of entries that a semantic or hybrid search ranks. It is the same for every page, so that pages neither
 * overlap nor leave gaps.
 */
export const rankDepth = 500;

/**
 * Max time that a search waits for entries that were just stored and are being embedded. Without the wait, only
 * keyword search would find them.
 */
export const vectorWaitMs = 15_000;

/** Returns the filter, or undefined if it matches everything. */
export function nonEmptyFilter(filter: EntryFilter): EntryFilter | undefined {
  return Object.values(filter).every((value) => value === undefined) ? undefined : filter;
}

/** Returns the database's query plan for a filter. */
export async function queryPlanOf(
  entries: EntryStore,
  filter: EntryFilter,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { plan } = await entries.list({ filter, limit: 1, offset: 0, images: false, explain: true }, { signal });
  return plan;
}

/**
 * Converts a cosine to the `semantic_distance` of mcp-context-server, the distance between unit vectors: 0 for the
 * same direction, 2 for the opposite one.
 */
export function distanceOf(cosine: number): number {
  return Math.sqrt(Math.max(0, 2 - 2 * cosine));
}

export function pendingWarning(pending: number): SearchWarnings {
  if (pending === 0) return {};
  return {
    degraded: 'embeddings_pending',
    warnings: [`${pending} of the searched entries are not embedded yet, so only full-text search finds them`],
  };
}
