import type { Dialect } from '../dialect.ts';
import type { Database } from './database.ts';
import { bound } from './local-transactions.ts';
import { adoptFile, removeFile } from './original-files.ts';
import type { PassageTables } from './passages.ts';
import { createWordIndex } from './word-index.ts';

/** An entry may be long, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

export interface SqliteDialectDeps {
  readonly passages: PassageTables;
  /** Where the bytes of documents are. */
  readonly documentsDir: string;
}

/** Of one connection, on its thread. */
export function createSqliteDialect(database: Database, { passages, documentsDir }: SqliteDialectDeps): Dialect {
  const words = createWordIndex(database, { name: 'context_entry', owner: 'context_entries', poolMax, totalMax });
  return {
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
    nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    // There is one writer at a time.
    skipLocked: '',
    entryWords: {
      write: async (_on, documents) => words.write(documents),
      find: async (_on, query, condition, isWide, page) =>
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
      weigh: async (_on, request) => words.weigh(request),
    },
    passages: {
      replace: async (_on, documents) => passages.replace('kb', documents),
      remove: async (_on, parents) => {
        passages.remove('kb', parents);
      },
      relabel: async (_on, parents, labels) => passages.relabel('kb', parents, labels),
    },
    originals: {
      adopt: async (_on, staged) => adoptFile(documentsDir, staged),
      remove: async (_on, hash) => removeFile(documentsDir, hash),
    },
  };
}
