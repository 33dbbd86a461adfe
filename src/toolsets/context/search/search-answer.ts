import { freeAnswer } from '../../../tools/free-answer.ts';
import { entryUriPrefix } from '../show/entry-resources.ts';

const sometimes =
  'hint?, stats?, clamped_limit?, budget?, truncated?, omitted_ids?, omitted_next?, next_offset?, cut?, degraded?, warnings?, error?, validation_errors?';

/** The fields of every search's answer: required ones, then optional ones. */
export const listAnswer = freeAnswer(`results, count, has_more, ${sometimes}`);

/** For the three text searches: their own fields plus the common ones. */
export function searchAnswer(own: string) {
  return freeAnswer(`${own}, and the fields of search_context`);
}

/** The offset to continue from when the answer is full; omitted entries belong to this page. */
export function nextOffset(offset: number, results: readonly unknown[], omitted: readonly unknown[]) {
  return omitted.length === 0 ? {} : { next_offset: offset + results.length };
}

/** See `found` in Tool. With `as_of`, a result may have changed or been deleted since. */
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

/** Invalid filters are an answer, not a failed call: the caller sees all faults at once. */
export function filterFaults(faults: readonly string[]) {
  return {
    results: [],
    count: 0,
    error: 'Metadata filter validation failed',
    validation_errors: [...faults],
  };
}
