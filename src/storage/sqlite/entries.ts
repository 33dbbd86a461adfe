import type { SQLInputValue } from 'node:sqlite';
import type { Dialect } from '../dialect.ts';
import type { OperationTable } from '../operations.ts';
import type { ListValue, SqlValue } from '../statements.ts';
import { createEntryOperations, type EntryOperations, writeOperations } from '../stores/entries/entry-operations.ts';
import type { Engine } from '../stores/entries/work.ts';
import type { Database } from './database.ts';
import { createOperationTable } from './operation-table.ts';
import { createWordIndex } from './word-index.ts';

/** Entries in SQLite, on the thread that has the connection. */
export type EntryTable = OperationTable<EntryOperations>;

/** An entry may be long, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

export function createEntryTable(database: Database): EntryTable {
  return createOperationTable(createEntryOperations(sqliteDialect), writeOperations, createEngine(database), database);
}

export const sqliteDialect: Dialect = {
  schema: '',
  integers: 'SELECT value FROM json_each(?)',
  numbers: 'SELECT value FROM json_each(?)',
  texts: 'SELECT value FROM json_each(?)',
  position: (text, part) => `instr(${text}, ${part})`,
  ending: (text, part) => `substr(${text}, -length(${part}))`,
  least: (first, second) => `min(${first}, ${second})`,
  greatest: (first, second) => `max(${first}, ${second})`,
  forUpdate: '',
  forShare: '',
  // The write lock is taken when a transaction begins.
  lock: undefined,
  fence: '',
  wordTables: ['entry_terms'],
  explain: (sql) => `EXPLAIN QUERY PLAN ${sql}`,
  planLine: (row) => `id:${row['id']} parent:${row['parent']} notused:${row['notused']} detail:${row['detail']}`,
};

function createEngine(database: Database): Engine {
  const words = createWordIndex(database, { name: 'context_entry', owner: 'context_entries', poolMax, totalMax });
  return {
    query: (sql, values) => database.all(sql, ...values.map(bound)),
    writeWords: (documents) => words.write(documents),
    weighWords: (request) => words.weigh(request),
    findWords: (query, condition, isWide, page) =>
      words.find(
        query,
        condition === undefined
          ? { sql: undefined, values: [] }
          : {
              // The index calls its rows `w`.
              sql: `SELECT o.key FROM context_entries o WHERE ${isWide ? 'o.key = w.rowid AND ' : ''}${condition.sql}`,
              values: condition.values.map(bound),
              perRow: isWide,
            },
        page,
      ),
  };
}

export function bound(value: SqlValue | ListValue): SQLInputValue {
  return typeof value === 'object' && value !== null && 'list' in value ? JSON.stringify(value.list) : value;
}
