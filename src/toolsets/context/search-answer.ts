import { z } from 'zod';
import { budgetShape } from './token-budget.ts';

const statsShape = z
  .object({
    execution_time_ms: z.number(),
    filters_applied: z.int(),
    rows_returned: z.int(),
    backend: z.string(),
    query_plan: z.string().nullable(),
  })
  .optional()
  .describe('With explain_query only.');

/** What the answers of all four searches share. */
export const answerFields = {
  count: z.int().describe('Entries in this answer.'),
  stats: statsShape,
  clamped_limit: z.object({ requested: z.int(), applied: z.int() }).optional().describe('Only when the limit was cut.'),
  budget: budgetShape,
  error: z.string().optional().describe('Only when a metadata filter cannot be used.'),
  validation_errors: z.array(z.string()).optional(),
};

export const degradedFields = {
  degraded: z.string().optional().describe('Set when the answer is worth less than it could be, and why.'),
  warnings: z.array(z.string()).optional(),
};

export type Stats = NonNullable<z.input<typeof statsShape>>;

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
