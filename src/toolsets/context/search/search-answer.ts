import * as z from 'zod';

/**
 * The answers of all four searches have `results` and `count`, and depending on the call and its outcome `stats`,
 * `clamped_limit`, `budget`, `error` with `validation_errors`, and `degraded` with `warnings`. The schema names only what is
 * always there: every user pays for its tokens, and the answer explains itself.
 */
export function searchAnswer<Fields extends z.core.$ZodShape>(fields: Fields) {
  return z.looseObject({ ...fields, results: z.array(z.unknown()), count: z.int() });
}

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
