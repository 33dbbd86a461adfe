import { numberOf, optionalTextOf, type Row, textOf, textsOf } from './rows.ts';

/** A field of a record: the column that it is stored in, and how its value is read. */
interface Field<Value> {
  readonly column: string;
  readonly read: (row: Row, column: string) => Value;
}

type Fields = Readonly<Record<string, Field<unknown>>>;

/**
 * Kinds of fields. Reading does not verify the types: constraints of the table ensure that a text is a `Text`, and our writes
 * ensure that JSON is a `Value`.
 */
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
