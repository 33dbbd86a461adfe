import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { columnKind, isMadeAnew, type MovedValue, type MoveTable } from './move-table.ts';

/** The tables that are moved, by their names. Generated columns are computed again. */
export function moveTables(database: DatabaseSync): Map<string, MoveTable> {
  const names = database
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all()
    .map((row) => String(row['name']))
    .filter((name) => !isMadeAnew(name));
  return new Map(
    names.map((name) => {
      const columns = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(name);
      const moved = columns.map((column) => {
        const own = String(column['name']);
        return { name: own, kind: columnKind(name, own, String(column['type'])) };
      });
      return [name, { name, columns: moved }];
    }),
  );
}

/** One after another: a table may be larger than memory. */
export function* sqliteRows(database: DatabaseSync, { name, columns }: MoveTable): Generator<MovedValue[]> {
  const list = columns.map((column) => column.name).join(', ');
  for (const row of database.prepare(`SELECT ${list} FROM ${name}`).iterate()) {
    yield columns.map(({ name: column, kind }) => fromSqlite(row[column] ?? null, kind));
  }
}

export async function writeSqliteRows(
  database: DatabaseSync,
  { name, columns }: MoveTable,
  rows: AsyncIterable<MovedValue[]>,
): Promise<void> {
  const marks = columns.map(() => '?').join(', ');
  const list = columns.map((column) => column.name).join(', ');
  const insert = database.prepare(`INSERT INTO ${name} (${list}) VALUES (${marks})`);
  for await (const row of rows) insert.run(...row.map(toSqlite));
}

function fromSqlite(value: SQLOutputValue, kind: string): MovedValue {
  if (value === null) return null;
  if (kind === 'texts') return (JSON.parse(String(value)) as unknown[]).map(String);
  if (value instanceof Uint8Array) return kind === 'reals' ? new Float32Array(new Uint8Array(value).buffer) : value;
  return typeof value === 'bigint' ? Number(value) : value;
}

function toSqlite(value: MovedValue): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Float32Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof Uint8Array ? value : JSON.stringify(value);
}
