/** How a value is stored. SQLite stores lists as JSON and vectors as bytes; PostgreSQL stores both as arrays. */
export type ColumnKind = 'text' | 'number' | 'list' | 'bytes' | 'vector';

export type Backend = 'sqlite' | 'postgres';

/** SQL that may differ between the two databases. */
type Sql = string | Readonly<Record<Backend, string>>;

export interface Column {
  readonly kind: ColumnKind;
  readonly type: Sql;
  readonly isOptional?: boolean;
  /** The database numbers new rows in this column, and never reuses a number. */
  readonly isIdentity?: boolean;
  /** Constraints that follow the type. `?` stands for the column's name. */
  readonly rules?: readonly Sql[];
}

export interface Index {
  readonly columns: string;
  readonly where?: string;
  readonly isUnique?: boolean;
  /** PostgreSQL's index type, if it is not a B-tree. */
  readonly method?: 'hash';
}

export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** The primary key, if it is not a column `t.key`. */
  readonly primaryKey?: readonly string[];
  readonly check?: string;
  /** Indexes by name. */
  readonly indexes?: Readonly<Record<string, Index>>;
}

const exactText: Column = { kind: 'text', type: { sqlite: 'TEXT', postgres: 'text COLLATE "C"' } };
const text: Column = { kind: 'text', type: 'TEXT' };
const number: Column = { kind: 'number', type: { sqlite: 'INTEGER', postgres: 'bigint' } };

export const t = {
  key: {
    kind: 'number',
    type: {
      sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
      postgres: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    },
    isIdentity: true,
  },
  text,
  /** A text that both databases compare byte by byte. */
  exactText,
  /** ISO 8601 with milliseconds, UTC. */
  time: check(exactText, 'length(?) = 24'),
  /** SHA-256 in hexadecimal digits. */
  hash: check(exactText, 'length(?) = 64'),
  object: check(text, { sqlite: "json_type(?) = 'object'", postgres: '' }),
  array: check(text, { sqlite: "json_type(?) = 'array'", postgres: '' }),
  /** 32 bits on PostgreSQL. */
  integer: { kind: 'number', type: 'INTEGER' },
  number,
  real: { kind: 'number', type: { sqlite: 'REAL', postgres: 'double precision' } },
  bytes: { kind: 'bytes', type: { sqlite: 'BLOB', postgres: 'bytea' } },
  vector: { kind: 'vector', type: { sqlite: 'BLOB', postgres: 'real[]' } },
  list: (max?: number) => {
    const list: Column = { kind: 'list', type: { sqlite: 'TEXT', postgres: 'text[] COLLATE "C"' } };
    const array = check(list, { sqlite: "json_type(?) = 'array'", postgres: '' });
    if (max === undefined) return array;
    return check(array, { sqlite: `json_array_length(?) <= ${max}`, postgres: `cardinality(?) <= ${max}` });
  },
  /** A foreign key. Deleting the referenced row deletes this row too. */
  reference: (table: string): Column => {
    const rule = (schema: string) => `REFERENCES ${schema}${table} (key) ON DELETE CASCADE`;
    return withRule(number, { sqlite: rule(''), postgres: rule('carrel.') });
  },
} as const satisfies Record<string, Column | ((...parameters: never[]) => Column)>;

export function optional(column: Column): Column {
  return { ...column, isOptional: true };
}

export function unique(column: Column): Column {
  return withRule(column, 'UNIQUE');
}

/** Adds a CHECK constraint. `?` stands for the column's name. */
export function check(column: Column, condition: Sql): Column {
  const rule = (sql: string) => (sql === '' ? '' : `CHECK (${sql})`);
  return withRule(column, { sqlite: rule(sqlFor('sqlite', condition)), postgres: rule(sqlFor('postgres', condition)) });
}

/** Returns the statements that create a table and its indexes. */
export function createTable(backend: Backend, table: Table): string {
  const lines = Object.entries(table.columns).map(([name, column]) => columnLine(backend, name, column));
  if (table.primaryKey !== undefined) lines.push(`PRIMARY KEY (${table.primaryKey.join(', ')})`);
  if (table.check !== undefined) lines.push(`CHECK (${table.check})`);
  const tableName = backend === 'sqlite' ? table.name : `carrel.${table.name}`;
  const indexes = Object.entries(table.indexes ?? {}).map(([name, index]) =>
    createIndex(backend, tableName, name, index),
  );
  const options = backend === 'sqlite' ? sqliteOptions(table) : '';
  return [`CREATE TABLE ${tableName} (\n  ${lines.join(',\n  ')}\n)${options};`, ...indexes].join('\n');
}

/** Returns the kinds of a table's columns, in the order of a row's values. */
export function columnKinds({ columns }: Table): ColumnKind[] {
  return Object.values(columns).map(({ kind }) => kind);
}

export function columnNames({ columns }: Table): string[] {
  return Object.keys(columns);
}

/** Returns the column in which the database numbers new rows, if any. */
export function identityOf({ columns }: Table): string | undefined {
  return Object.keys(columns).find((column) => columns[column]?.isIdentity === true);
}

function withRule(column: Column, rule: Sql): Column {
  return { ...column, rules: [...(column.rules ?? []), rule] };
}

function sqlFor(backend: Backend, sql: Sql): string {
  return typeof sql === 'string' ? sql : sql[backend];
}

function columnLine(backend: Backend, name: string, { type, isOptional, isIdentity, rules }: Column) {
  const isRequired = isOptional !== true && isIdentity !== true;
  const parts = [name, sqlFor(backend, type), isRequired ? 'NOT NULL' : ''];
  for (const rule of rules ?? []) parts.push(sqlFor(backend, rule).replace('?', name));
  return parts.filter((part) => part !== '').join(' ');
}

/** Returns the table options for SQLite. WITHOUT ROWID stores rows in key order; it does not suit integer keys and large rows. */
function sqliteOptions({ columns, primaryKey: [first = '', ...others] = [] }: Table): string {
  // Without `primaryKey`, the key is `t.key`.
  const hasIntegerKey = first === '' || (others.length === 0 && columns[first]?.kind === 'number');
  const isLarge = Object.values(columns).some(({ kind }) => kind === 'bytes');
  return hasIntegerKey || isLarge ? ' STRICT' : ' STRICT, WITHOUT ROWID';
}

function createIndex(
  backend: Backend,
  table: string,
  name: string,
  { columns, where, isUnique, method }: Index,
): string {
  const using = backend === 'postgres' && method !== undefined ? `USING ${method} ` : '';
  const condition = where === undefined ? '' : ` WHERE ${where}`;
  return `CREATE ${isUnique === true ? 'UNIQUE ' : ''}INDEX ${name} ON ${table} ${using}(${columns})${condition};`;
}
