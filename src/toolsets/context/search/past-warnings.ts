import { restorableDays } from '../../../storage/entries/entry.ts';
import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { PastGaps } from '../../../storage/entries/search-entries.ts';

export interface Warned {
  degraded?: string;
  warnings?: string[];
}

/** Returns warnings about entries that a call with as_of can't show. `use` is `search` for text searches. */
export async function pastWarnings(
  entries: EntryStore,
  filter: EntryFilter,
  use: 'read' | 'search',
  signal: AbortSignal,
): Promise<Warned> {
  const { asOf } = filter;
  if (asOf === undefined) return {};
  const { unknown, unsearched, purged }: PastGaps = await entries.pastGaps({ ...filter, asOf }, { signal });
  const warnings = [
    unknown > 0 &&
      `${unknown} entries are left out: they have changed since as_of, and their earlier text is no longer stored`,
    use === 'search' &&
      unsearched > 0 &&
      `${unsearched} entries are left out: they were changed or deleted since as_of, so only search_context and grep_context find them`,
    purged && `Entries deleted more than ${restorableDays} days ago are left out: they are no longer stored`,
  ].filter((warning) => typeof warning === 'string');
  return warnings.length === 0 ? {} : { warnings };
}

export function joinWarnings(...all: readonly Warned[]): Warned {
  const warnings = all.flatMap((each) => each.warnings ?? []);
  const degraded = all.find((each) => each.degraded !== undefined)?.degraded;
  return { ...(degraded === undefined ? {} : { degraded }), ...(warnings.length === 0 ? {} : { warnings }) };
}
