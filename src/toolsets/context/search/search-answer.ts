import { freeAnswer } from '../../../tools/free-answer.ts';
import { entryUriPrefix } from '../show/entry-resources.ts';

const sometimes =
  'hint?, stats?, clamped_limit?, budget?, truncated?, omitted_ids?, omitted_next?, next_offset?, cut?, degraded?, warnings?, error?, validation_errors?';

/** What every search answers: what is always there, then what depends on the call and its outcome. */
export const listAnswer = freeAnswer(`results, count, has_more, ${sometimes}`);

/** The answers of the other three: their own fields, and the same as above. */
export function searchAnswer(own: string) {
  return freeAnswer(`${own}, and those of search_context`);
}

/** Where the same search goes on after an answer that was full; what it left out is on this page. */
export function nextOffset(offset: number, results: readonly unknown[], omitted: readonly unknown[]) {
  return omitted.length === 0 ? {} : { next_offset: offset + results.length };
}

/** See Tool. An entry as it was may be gone, or have become another. */
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

/** Starts the clock of a search. */
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

/** An invalid filter is an answer, not a failed call: the caller sees all its errors at once. */
export function filterFaults(faults: readonly string[]) {
  return {
    results: [],
    count: 0,
    error: 'Metadata filter validation failed',
    validation_errors: [...faults],
  };
}
