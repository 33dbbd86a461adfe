import type { Statements } from './dialect.ts';
import { type BoundValue, type Condition, numberOf, type Row, valuesOf } from './rows.ts';

/** Joins conditions with AND. Without conditions, the result is always true. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.length === 0 ? '1 = 1' : conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Reads one page of rows, and counts the rows of all pages. `sql` is what follows FROM. */
export async function readPage(
  on: Statements,
  columns: string,
  { sql, values }: Condition,
  order: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const rows = await on.query(`SELECT ${columns} FROM ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`, [
    ...values,
    limit,
    offset,
  ]);
  return { rows, total: await countRows(on, { sql, values }) };
}

export async function countRows(on: Statements, { sql, values }: Condition): Promise<number> {
  const [row = {}] = await on.query(`SELECT count(*) AS total FROM ${sql}`, values);
  return numberOf(row, 'total');
}

/** Returns the inserted row's `returning`. */
export async function insertRow(
  on: Statements,
  table: string,
  row: Readonly<Record<string, BoundValue>>,
  { returning, given = '' }: { readonly returning: string; readonly given?: string },
): Promise<Row> {
  const { columns, placeholders, values } = valuesOf(row);
  const [inserted = {}] = await on.query(
    `INSERT INTO ${table} (${columns}) ${given} VALUES (${placeholders}) RETURNING ${returning}`,
    values,
  );
  return inserted;
}
