import { type EntryFilter, restorableDays } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { HistoryGaps } from '../../../storage/entries/search-entries.ts';
import { looseOutput } from '../../../tools/tool.ts';
import { entryUriPrefix } from '../show/entry-shapes.ts';

const optionalFields =
  'hint?, stats?, clamped_limit?, budget?, truncated?, omitted_ids?, omitted_next?, next_offset?, cut?, degraded?, warnings?, error?, validation_errors?';

/** Output of search_context: the fields that every search returns, then the optional ones. */
export const listOutput = looseOutput(`results, count, has_more, ${optionalFields}`);

/** Creates the output schema of a text search: these fields and those of search_context. */
export function searchOutput(fields: string) {
  return looseOutput(`${fields}, and the fields of search_context`);
}

/** Returns the offset to continue from if entries did not fit into the answer. */
export function nextOffset(offset: number, results: readonly unknown[], omitted: readonly unknown[]) {
  return omitted.length === 0 ? {} : { next_offset: offset + results.length };
}

/** Calls with `as_of` get no resource links, because their results may have changed or been deleted since. */
export const entryResultFields = {
  list: 'results',
  title: 'text_content',
  id: { field: 'id', prefix: entryUriPrefix },
  unless: 'as_of',
};

export interface Stats {
  execution_time_ms: number;
  filters_applied: number;
  rows_returned: number;
  backend: string;
  query_plan: string | null;
}

/** Starts timing a search. The returned function ends the timing and creates the statistics. */
export function startStats(backend: string, applied: number) {
  const start = performance.now();
  return (rows: number, plan: string | undefined): Stats => ({
    execution_time_ms: elapsedMs(start),
    filters_applied: applied,
    rows_returned: rows,
    backend,
    query_plan: plan ?? null,
  });
}

export function elapsedMs(start: number): number {
  return Math.round((performance.now() - start) * 100) / 100;
}

/** Returns the answer to a search with invalid filters. It lists all faults together, and the call does not fail. */
export function filterFaults(faults: readonly string[]) {
  return {
    results: [],
    count: 0,
    error: 'Metadata filter validation failed',
    validation_errors: [...faults],
  };
}

export interface SearchWarnings {
  degraded?: string;
  warnings?: string[];
}

/** Returns warnings about entries that a call with as_of can't show. `kind` is `search` for text searches. */
export async function historyWarnings(
  entries: EntryStore,
  filter: EntryFilter,
  kind: 'read' | 'search',
  signal: AbortSignal,
): Promise<SearchWarnings> {
  const { asOf } = filter;
  if (asOf === undefined) return {};
  const { unknown, unsearched, purged }: HistoryGaps = await entries.historyGaps({ ...filter, asOf }, { signal });
  const warnings = [
    unknown > 0 &&
      `${unknown} entries are left out: they have changed since as_of, and their earlier text is no longer stored`,
    kind === 'search' &&
      unsearched > 0 &&
      `${unsearched} entries are left out: they were changed or deleted since as_of, so only search_context and grep_context find them`,
    purged && `Entries deleted more than ${restorableDays} days ago are left out: they are no longer stored`,
  ].filter((warning) => typeof warning === 'string');
  return warnings.length === 0 ? {} : { warnings };
}

export function joinWarnings(...all: readonly SearchWarnings[]): SearchWarnings {
  const warnings = all.flatMap((each) => each.warnings ?? []);
  const degraded = all.find((each) => each.degraded !== undefined)?.degraded;
  return { ...(degraded === undefined ? {} : { degraded }), ...(warnings.length === 0 ? {} : { warnings }) };
}
