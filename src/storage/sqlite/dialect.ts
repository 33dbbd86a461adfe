import type { SQLInputValue } from 'node:sqlite';
import type { Dialect, Operation, Statements, VectorTable } from '../dialect.ts';
import { type BoundValue, bytesOf, numberOf } from '../rows.ts';
import type { Database } from './database.ts';
import { checkContent, describe } from './inspect.ts';
import { adoptFile, removeFile } from './original-files.ts';
import { createWordTable } from './word-table.ts';

/** Creates the dialect for one connection, on its thread. The bytes of documents are in `documentsDir`. */
export function createSqliteDialect(database: Database, { documentsDir }: { readonly documentsDir: string }): Dialect {
  return {
    integers: 'SELECT value FROM json_each(?)',
    fewIntegers: 'SELECT value FROM json_each(?)',
    // Without the cast, SQLite would read some doubles over 2^53 as a different integer.
    numbers: 'SELECT CAST(value AS REAL) FROM json_each(?)',
    texts: 'SELECT value FROM json_each(?)',
    textList: (select) => `(SELECT json_group_array(value) FROM (${select}))`,
    elements: (json) => `json_each(${json}) AS element`,
    position: (text, part) => `instr(${text}, ${part})`,
    forUpdate: '',
    forShare: '',
    // Not needed: a transaction gets the write lock of the whole database when it begins.
    lock: undefined,
    fence: '',
    explain: (sql) => `EXPLAIN QUERY PLAN ${sql}`,
    planLine: (row) => `id:${row['id']} parent:${row['parent']} notused:${row['notused']} detail:${row['detail']}`,
    nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    // Not needed: there is one writer at a time.
    skipLocked: '',
    rowsPerInsert: 16,
    rows: (types, rows) => {
      const placeholders = `(${types.map(() => '?').join(', ')})`;
      return { sql: `VALUES ${rows.map(() => placeholders).join(', ')}`, values: rows.flat() };
    },
    keys: {
      async highest(db, table) {
        const [row] = await db.query('SELECT seq FROM sqlite_sequence WHERE name = ?', [table]);
        return row === undefined ? 0 : numberOf(row, 'seq');
      },
      clause: '',
      // Not needed: SQLite itself sets the sequence to the highest key.
      advance: async () => {},
    },
    words: createWordTable(database),
    vectors: vectorTable,
    originals: {
      adopt: async (_db, staged) => adoptFile(documentsDir, staged),
      remove: async (_db, hash) => removeFile(documentsDir, hash),
    },
    describe,
    check: async () => checkContent(database),
  };
}

/** Stores vectors as bytes. An in-memory index finds the nearest ones (docs/decisions/0012-meaning.md). */
const vectorTable: VectorTable = {
  column: 'vector',
  encode: (vector) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
  decode(row) {
    const { buffer, byteOffset, byteLength } = bytesOf(row, 'vector');
    return new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
  },
  modelLock: '',
  // Neither needs a lock: there is one writer at a time.
  beforeAddingModel: async () => {},
  beforeAddingVectors: async () => {},
  ensureIndex: () => {},
  dropIndex: async () => {},
  indexState: async () => 'memory',
};

type Perform = <Request, Answer>(
  operation: Operation<Request, Answer>,
  request: Request,
  now: string,
) => Promise<Answer>;

/**
 * Transactions on the connection's own thread. The caller must await each call before the next, as answer-calls.ts does.
 * Otherwise the second call would run inside the transaction of the first.
 */
export interface LocalTransactions {
  readonly write: Perform;
  readonly read: Perform;
  readonly withoutTimeout: Perform;
}

export function createLocalTransactions(database: Database, dialect: Dialect): LocalTransactions {
  const statements = (now: string): Statements => ({
    dialect,
    now,
    query: async (sql, values = []) => database.all(sql, ...values.map(bound)),
  });
  return {
    write: (operation, request, now) => database.transaction(() => operation(statements(now), request)),
    read: (operation, request, now) => database.readSnapshot(() => operation(statements(now), request)),
    withoutTimeout: (operation, request, now) => operation(statements(now), request),
  };
}

export function bound(value: BoundValue): SQLInputValue {
  return typeof value === 'object' && value !== null && 'list' in value ? JSON.stringify(value.list) : value;
}
