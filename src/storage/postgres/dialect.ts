import type { VectorCorpus } from '../contracts/vectors.ts';
import type { Dialect } from '../dialect.ts';
import { numberOf } from '../rows.ts';
import type { FreshStatistics } from './fresh-statistics.ts';
import type { NearestIndexes } from './nearest.ts';
import { adoptOriginal, removeOriginal } from './originals.ts';
import { passageTable } from './passage-table.ts';
import { fieldHash } from './schema/entry-schema.ts';
import type { TextCutter } from './text-cutter.ts';
import { checkContent, describe } from './upkeep.ts';
import { createVectorTable } from './vector-table.ts';
import { createVerdictCache } from './verdict-cache.ts';
import type { WordShares } from './word-shares.ts';
import { createWordTable } from './word-table.ts';

export interface PostgresDialectDeps {
  /** None without pgvector. */
  readonly indexes: Readonly<Record<VectorCorpus, NearestIndexes>> | undefined;
  readonly statistics: FreshStatistics;
  readonly shares: WordShares;
  readonly cutter: TextCutter;
}

/** Of one database. */
export function createPostgresDialect({ indexes, statistics, shares, cutter }: PostgresDialectDeps): Dialect {
  return {
    schema: 'carrel.',
    integers: 'SELECT unnest(?::bigint[])',
    // Whose length the planner cannot see, so that a plan for one list is as good as for another.
    fewIntegers: 'SELECT unnest((SELECT ?::bigint[]))',
    numbers: 'SELECT unnest(?::float8[])',
    texts: 'SELECT unnest(?::text[])',
    textList: (select) => `ARRAY(${select})`,
    elements: (json) => `jsonb_array_elements_text(${json}::jsonb) AS element (value)`,
    position: (text, part) => `strpos(${text}, ${part})`,
    ending: (text, part) => `right(${text}, length(${part}))`,
    orderedInJson: (json, sign) => `(${json}::jsonb #> ?::text[]) ${sign} to_jsonb(?::float8)`,
    jsonPath: (keys) => `{${keys.map((key) => `"${key}"`).join(',')}}`,
    least: (first, second) => `least(${first}, ${second})`,
    greatest: (first, second) => `greatest(${first}, ${second})`,
    forUpdate: 'FOR UPDATE',
    forShare: 'FOR SHARE',
    lock: 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(?::text[]) AS names (name)',
    lockTable: (table, how) => `LOCK TABLE carrel.${table} IN ${how === 'shared' ? 'ROW ' : ''}EXCLUSIVE MODE`,
    textAt: `${fieldHash('f.path', 'f.head')} = ${fieldHash('?::text', '?::text')}`,
    fence: ' OFFSET 0',
    explain: (sql) => `EXPLAIN ${sql}`,
    planLine: (row) => String(row['QUERY PLAN']),
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    rowsAtOnce: 100,
    // The text is the same for any number of rows, so it is parsed and planned once.
    rows: (types, rows) => ({
      sql: `SELECT * FROM unnest(${types.map((type) => `?::${type}[]`).join(', ')})`,
      values: types.map((_, column) => ({ list: rows.map((row) => row[column] ?? null) })),
    }),
    keys: {
      async highest(on, table) {
        await on.query(`LOCK TABLE carrel.${table} IN SHARE ROW EXCLUSIVE MODE`);
        const [row] = await on.query(
          `SELECT pg_sequence_last_value(pg_get_serial_sequence('carrel.' || ?, 'key')::regclass) AS last`,
          [table],
        );
        return row === undefined ? 0 : numberOf(row, 'last');
      },
      given: 'OVERRIDING SYSTEM VALUE',
      async advance(on, table, key) {
        await on.query(`SELECT setval(pg_get_serial_sequence('carrel.' || ?, 'key'), ?::bigint)`, [table, key]);
      },
    },
    verdicts: createVerdictCache(),
    words: createWordTable(cutter, statistics, shares),
    // Tags are indexed where they are.
    notes: {
      indexTags: async () => {},
      tagged: (tags) => ({
        sql: `SELECT o.key FROM carrel.notes o WHERE ${tags.map(() => 'o.tags && ?::text[]').join(' AND ')}`,
        values: tags.map((list) => ({ list })),
      }),
    },
    passages: passageTable,
    vectors: createVectorTable(indexes),
    originals: { adopt: adoptOriginal, remove: removeOriginal },
    describe,
    check: checkContent,
  };
}
