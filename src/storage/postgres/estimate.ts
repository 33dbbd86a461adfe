import type { Statements } from '../dialect.ts';
import type { Condition } from '../rows.ts';

/** How many rows `o` of a table pass, by what the database knows of its tables: to count many of them takes as long as a search. */
export async function estimate(on: Statements, table: string, { sql, values }: Condition): Promise<number> {
  const [row = {}] = await on.query(`EXPLAIN (FORMAT JSON) SELECT 1 FROM ${table} o WHERE ${sql}`, values);
  const [plan] = row['QUERY PLAN'] as [{ readonly Plan: { readonly 'Plan Rows': number } }];
  return plan.Plan['Plan Rows'];
}
