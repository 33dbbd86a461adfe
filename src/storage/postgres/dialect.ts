import type { Dialect } from '../dialect.ts';
import { numberOf } from '../rows.ts';
import { checkContent, describe } from './inspect.ts';
import { adoptOriginal, removeOriginal } from './originals.ts';
import { createVectorTable, type Nearest } from './vectors/vector-table.ts';
import type { Tokenizer } from './words/tokenizer.ts';
import { createWordTable } from './words/word-table.ts';

/** Creates the dialect. `nearest` is undefined without pgvector. */
export function createPostgresDialect(tokenizer: Tokenizer, nearest: Nearest | undefined): Dialect {
  return {
    integers: 'SELECT unnest(?::bigint[])',
    // The subselect hides the list's length from the planner, so that all lists share one plan.
    fewIntegers: 'SELECT unnest((SELECT ?::bigint[]))',
    numbers: 'SELECT unnest(?::float8[])',
    texts: 'SELECT unnest(?::text[])',
    textList: (select) => `ARRAY(${select})`,
    elements: (json) => `jsonb_array_elements_text(${json}::jsonb) AS element (value)`,
    position: (text, part) => `strpos(${text}, ${part})`,
    forUpdate: 'FOR UPDATE',
    forShare: 'FOR SHARE',
    lock: 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(?::text[]) AS names (name)',
    fence: ' OFFSET 0',
    explain: (sql) => `EXPLAIN ${sql}`,
    planLine: (row) => String(row['QUERY PLAN']),
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    rowsPerInsert: 100,
    // The SQL is the same for any number of rows, so it is parsed and planned once.
    rows: (types, rows) => ({
      sql: `SELECT * FROM unnest(${types.map((type) => `?::${type}[]`).join(', ')})`,
      values: types.map((_, column) => ({ list: rows.map((row) => row[column] ?? null) })),
    }),
    keys: {
      async highest(db, table) {
        await db.query(`LOCK TABLE carrel.${table} IN EXCLUSIVE MODE`);
        const [row] = await db.query(
          `SELECT pg_sequence_last_value(pg_get_serial_sequence('carrel.' || ?, 'key')::regclass) AS last`,
          [table],
        );
        return row === undefined ? 0 : numberOf(row, 'last');
      },
      clause: 'OVERRIDING SYSTEM VALUE',
      async advance(db, table, key) {
        await db.query(`SELECT setval(pg_get_serial_sequence('carrel.' || ?, 'key'), ?::bigint)`, [table, key]);
      },
    },
    words: createWordTable(tokenizer),
    vectors: createVectorTable(nearest),
    originals: { adopt: adoptOriginal, remove: removeOriginal },
    describe,
    check: checkContent,
  };
}
