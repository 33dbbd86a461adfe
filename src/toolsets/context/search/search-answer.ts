import { freeAnswer } from '../../../tools/free-answer.ts';
import { entryUriPrefix } from '../show/entry-resources.ts';

const sometimes =
  'hint?, stats?, clamped_limit?, budget?, truncated?, omitted_ids?, omitted_next?, next_offset?, cut?, degraded?, warnings?, error?, validation_errors?';

/** Output of search_context: the fields that every search returns, then the optional ones. */
export const listAnswer = freeAnswer(`results, count, has_more, ${sometimes}`);

/** Creates the output schema of a text search: its own fields plus those of search_context. */
export function searchAnswer(own: string) {
  return freeAnswer(`${own}, and the fields of search_context`);
}

/** Returns the offset to continue from if entries did not fit into the answer. */
export function nextOffset(offset: number, results: readonly unknown[], omitted: readonly unknown[]) {
  return omitted.length === 0 ? {} : { next_offset: offset + results.length };
}

/**
 * See `found` in tools/tool.ts. Calls with `as_of` get no links: their results may have changed or been deleted
 * since.
 */
export const foundEntries = {
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
    execution_time_ms: elapsed(start),
    filters_applied: applied,
    rows_returned: rows,
    backend,
    query_plan: plan ?? null,
  });
}

export function elapsed(start: number): number {
  return Math.round((performance.now() - start) * 100) / 100;
}

/** Returns the answer to a search with invalid filters. It lists all faults at once, and the call does not fail. */
export function filterFaults(faults: readonly string[]) {
  return {
    results: [],
    count: 0,
    error: 'Metadata filter validation failed',
    validation_errors: [...faults],
  };
}
