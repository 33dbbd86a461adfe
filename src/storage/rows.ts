export type Row = Readonly<Record<string, unknown>>;

export type SqlValue = string | number | null | Uint8Array;

/** Several values that are bound to one question mark. */
export interface ListValue {
  readonly list: readonly (string | number | null)[];
}

export type BoundValue = SqlValue | ListValue;

/** A condition, assignment or statement, with the values for its question marks, in order. */
export interface SqlFragment {
  readonly sql: string;
  readonly values: readonly BoundValue[];
}

/** Returns the parts of `INSERT INTO … (columns) VALUES (placeholders)` for one row. */
export function valuesOf(row: Readonly<Record<string, BoundValue>>) {
  const columns = Object.keys(row);
  return { columns: columns.join(', '), placeholders: columns.map(() => '?').join(', '), values: Object.values(row) };
}

/** Returns the assignments of `UPDATE … SET` for a row. */
export function assignmentOf(row: Readonly<Record<string, BoundValue>>): SqlFragment {
  return {
    sql: Object.keys(row)
      .map((column) => `${column} = ?`)
      .join(', '),
    values: Object.values(row),
  };
}

/** Yields slices of at most `size` items, in order. */
export function* batchesOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not a text`);
  return value;
}

export function optionalTextOf(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/** Reads a list of texts. SQLite stores lists as JSON. */
export function textsOf(row: Row, column: string): string[] {
  const value = row[column];
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  if (!Array.isArray(list)) throw new TypeError(`column ${column} is not a list`);
  return list.map(String);
}

/** Reads a number. PostgreSQL returns 64-bit integers as text. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  const number = Number(value);
  if (!Number.isFinite(number)) throw new TypeError(`column ${column} is not a number`);
  return number;
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} does not contain bytes`);
  return value;
}

/** A field of a record: the column that it is stored in, and how its value is read. */
interface Field<Value> {
  readonly column: string;
  readonly read: (row: Row, column: string) => Value;
}

type Fields = Readonly<Record<string, Field<unknown>>>;

/** Kinds of fields. Reading does not verify the types `Text` and `Value`: constraints and our writes ensure them. */
export const field = {
  text: <Text extends string = string>(column: string): Field<Text> => ({
    column,
    read: textOf as Field<Text>['read'],
  }),
  optionalText: (column: string): Field<string | undefined> => ({ column, read: optionalTextOf }),
  number: (column: string): Field<number> => ({ column, read: numberOf }),
  optionalNumber: (column: string): Field<number | undefined> => ({
    column,
    read: (row) => (row[column] === null ? undefined : numberOf(row, column)),
  }),
  texts: (column: string): Field<readonly string[]> => ({ column, read: textsOf }),
  json: <Value>(column: string): Field<Value> => ({ column, read: (row) => JSON.parse(textOf(row, column)) }),
} as const;

/** The type of a record with these fields. */
export type RecordOf<Described> = {
  readonly [Name in keyof Described]: Described[Name] extends Field<infer Value> ? Value : never;
};

/** Returns the column list for a SELECT. */
export function columnsOf(fields: Fields): string {
  return Object.values(fields)
    .map(({ column }) => column)
    .join(', ');
}

export function recordOf<Described extends Fields>(fields: Described, row: Row): RecordOf<Described> {
  const values = Object.entries(fields).map(([name, { column, read }]) => [name, read(row, column)]);
  // The cast is safe: the keys are those of `fields`.
  return Object.fromEntries(values) as RecordOf<Described>;
}
