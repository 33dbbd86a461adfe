import type { Dialect } from '../dialect.ts';
import { numberOf } from '../rows.ts';
import type { Database } from './database.ts';
import { createKeyLists } from './key-lists.ts';
import { adoptFile, removeFile } from './original-files.ts';
import { createPassageTable } from './passage-table.ts';
import { checkContent, describe } from './upkeep.ts';
import { vectorTable } from './vector-table.ts';
import { createWordTable } from './word-table.ts';
import type { WriteHelper } from './write-helper/write-helper.ts';

export interface SqliteDialectDeps {
  /** Takes part of large writes. Without it all is done here. */
  readonly helper?: WriteHelper | undefined;
  /** Where the bytes of documents are. */
  readonly documentsDir: string;
}

/** Of one connection, on its thread. */
export function createSqliteDialect(database: Database, { helper, documentsDir }: SqliteDialectDeps): Dialect {
  const keyLists = createKeyLists(database);
  return {
    schema: '',
    integers: 'SELECT value FROM json_each(?)',
    fewIntegers: 'SELECT value FROM json_each(?)',
    // A double beyond 2^53 is written with fewer digits than the integer that it is, and would be read as another one.
    numbers: 'SELECT CAST(value AS REAL) FROM json_each(?)',
    texts: 'SELECT value FROM json_each(?)',
    textList: (select) => `(SELECT json_group_array(value) FROM (${select}))`,
    elements: (json) => `json_each(${json}) AS element`,
    position: (text, part) => `instr(${text}, ${part})`,
    ending: (text, part) => `substr(${text}, -length(${part}))`,
    // With the number itself: integers that are read as doubles may have become it.
    orderedInJson: (json, sign) => `json_extract(${json}, ?) ${sign.startsWith('<') ? '<=' : '>='} ?`,
    jsonPath: (keys) => `$${keys.map((key) => `."${key}"`).join('')}`,
    least: (first, second) => `min(${first}, ${second})`,
    greatest: (first, second) => `max(${first}, ${second})`,
    forUpdate: '',
    forShare: '',
    // The write lock is taken when a transaction begins.
    lock: undefined,
    lockTable: () => undefined,
    textAt: undefined,
    fence: '',
    explain: (sql) => `EXPLAIN QUERY PLAN ${sql}`,
    planLine: (row) => `id:${row['id']} parent:${row['parent']} notused:${row['notused']} detail:${row['detail']}`,
    nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    // There is one writer at a time.
    skipLocked: '',
    rowsAtOnce: 16,
    rows: (types, rows) => {
      const places = `(${types.map(() => '?').join(', ')})`;
      return { sql: `VALUES ${rows.map(() => places).join(', ')}`, values: rows.flat() };
    },
    keys: {
      async highest(on, table) {
        const [row] = await on.query('SELECT seq FROM sqlite_sequence WHERE name = ?', [table]);
        return row === undefined ? 0 : numberOf(row, 'seq');
      },
      given: '',
      // The sequence is the highest key there was.
      advance: async () => {},
    },
    verdicts: undefined,
    words: createWordTable(database, keyLists, helper),
    // Tags are in a table of their own, beside the list that each note has.
    notes: {
      async indexTags(on, note, tags) {
        await on.query('DELETE FROM note_tags WHERE note = ?', [note]);
        for (const tag of tags) await on.query('INSERT INTO note_tags (tag, note) VALUES (?, ?)', [tag, note]);
      },
      tagged: (tags) => ({
        sql: tags
          .map(() => 'SELECT DISTINCT note AS key FROM note_tags WHERE tag IN (SELECT value FROM json_each(?))')
          .join(' INTERSECT '),
        values: tags.map((list) => ({ list })),
      }),
    },
    passages: createPassageTable(database, keyLists),
    vectors: vectorTable,
    originals: {
      adopt: async (_on, staged) => adoptFile(documentsDir, staged),
      remove: async (_on, hash) => removeFile(documentsDir, hash),
    },
    describe,
    check: async () => checkContent(database),
  };
}
