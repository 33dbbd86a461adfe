import type { EntryStore } from '../../../storage/contracts/entries.ts';
import type { EntryFilter } from '../../../storage/stores/entries/entry-filter.ts';
import type { Warned } from './past-warnings.ts';

/**
 * How many entries a search by meaning, or a hybrid one, puts in order, whichever page is asked for: the order of one
 * page then never depends on another, and pages neither overlap nor leave gaps.
 */
export const rankDepth = 500;

/**
 * How long such a search waits for entries that were stored just before and are still being embedded. They cost no more time
 * than they would have cost the one who stored them, and without them it would answer by words alone.
 */
export const settleMs = 15_000;

/** The filter, unless it lets everything through, and how the database carries it out. */
export async function narrowed(
  entries: EntryStore,
  filter: EntryFilter,
  explain: boolean,
  signal: AbortSignal,
): Promise<{ filter: EntryFilter | undefined; plan: string | undefined }> {
  const isOpen = Object.values(filter).every((value) => value === undefined);
  const needed = isOpen ? undefined : filter;
  if (!explain) return { filter: needed, plan: undefined };
  const { plan } = await entries.list({ filter, limit: 1, offset: 0, images: false, explain: true }, { signal });
  return { filter: needed, plan };
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
