import type { Statements } from './dialect.ts';
import { type BoundValue, numberOf, type Row, type SqlFragment, textOf, valuesOf } from './rows.ts';

/** Joins conditions with AND. Without any, returns a condition that is always true. */
export function allOf(conditions: readonly SqlFragment[]): SqlFragment {
  return {
    sql: conditions.length === 0 ? '1 = 1' : conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Reads one page of rows, and counts the rows of all pages. `sql` is what follows FROM. */
export async function readPage(
  db: Statements,
  columns: string,
  { sql, values }: SqlFragment,
  order: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const rows = await db.query(`SELECT ${columns} FROM ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`, [
    ...values,
    limit,
    offset,
  ]);
  return { rows, total: await countRows(db, { sql, values }) };
}

export async function countRows(db: Statements, { sql, values }: SqlFragment): Promise<number> {
  const [row = {}] = await db.query(`SELECT count(*) AS total FROM ${sql}`, values);
  return numberOf(row, 'total');
}

/** Inserts a row and returns its columns in `returning`. `clause` follows the column list. */
export async function insertRow(
  db: Statements,
  table: string,
  row: Readonly<Record<string, BoundValue>>,
  { returning, clause = '' }: { readonly returning: string; readonly clause?: string },
): Promise<Row> {
  const { columns, placeholders, values } = valuesOf(row);
  const [inserted = {}] = await db.query(
    `INSERT INTO ${table} (${columns}) ${clause} VALUES (${placeholders}) RETURNING ${returning}`,
    values,
  );
  return inserted;
}

/**
 * `indexed_fields`: the metadata fields that are indexed, as a JSON list. `purged_to`: the latest time of removal of any purged
 * entry. `word_analysis`: version and language of the analysis that made all stored terms.
 */
type SettingName = 'indexed_fields' | 'purged_to' | 'word_analysis';

/**
 * Reads a setting. `lock` is `forShare` or `forUpdate` of the dialect: both keep the value unchanged until the transaction
 * ends, and `forUpdate` also blocks other transactions that lock it.
 */
export async function readSetting(db: Statements, name: SettingName, lock = ''): Promise<string | undefined> {
  const [row] = await db.query(`SELECT value FROM settings WHERE name = ? ${lock}`, [name]);
  return row === undefined ? undefined : textOf(row, 'value');
}

export async function writeSetting(db: Statements, name: SettingName, value: string): Promise<void> {
  await db.query(
    `INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  );
}
