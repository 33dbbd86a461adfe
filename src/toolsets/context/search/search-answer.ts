import * as z from 'zod';

/**
 * What the answers of all four searches have: `results` and `count`, and as the call and its outcome are, `stats`,
 * `clamped_limit`, `budget`, `error` with `validation_errors`, `degraded` with `warnings`. The schema names only what is
 * always there: every word of it is paid for by every user, and says little that the answer itself does not.
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

/** Measures a search from here on. */
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

/** A bad filter is answered, not failed: the caller sees everything that is wrong with it at once. */
export function filterFaults(faults: readonly string[]) {
  return {
    results: [],
    count: 0,
    error: 'Metadata filter validation failed',
    validation_errors: [...faults],
  };
}
