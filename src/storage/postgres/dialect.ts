import type { Dialect } from '../dialect.ts';
import { adoptOriginal, removeOriginal } from './originals.ts';
import { createPassageWriter } from './passages.ts';
import { numbered } from './transactions.ts';
import { createWordIndex } from './word-index.ts';

/** An entry may be long, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

const words = createWordIndex({ name: 'context_entry', owner: 'context_entries', poolMax, totalMax });
const passages = createPassageWriter('kb');

export const postgresDialect: Dialect = {
  schema: 'carrel.',
  integers: 'SELECT unnest(?::bigint[])',
  numbers: 'SELECT unnest(?::float8[])',
  texts: 'SELECT unnest(?::text[])',
  position: (text, part) => `strpos(${text}, ${part})`,
  ending: (text, part) => `right(${text}, length(${part}))`,
  least: (first, second) => `least(${first}, ${second})`,
  greatest: (first, second) => `greatest(${first}, ${second})`,
  forUpdate: 'FOR UPDATE',
  forShare: 'FOR SHARE',
  lock: 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(?::text[]) AS names (name)',
  fence: ' OFFSET 0',
  wordTables: ['entry_terms', 'entry_words'],
  explain: (sql) => `EXPLAIN ${sql}`,
  planLine: (row) => String(row['QUERY PLAN']),
  nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  entryWords: {
    write: (on, documents) => words.write(on, documents),
    find: (on, query, condition, _isWide, page) =>
      words.find(
        on,
        query,
        { sql: condition && numbered(condition.sql), values: condition === undefined ? [] : condition.values },
        page,
      ),
    weigh: (on, request) => words.weigh(on, request),
  },
  passages: {
    replace: (on, documents) => passages.replace(on, documents),
    remove: async (on, parents) => {
      await passages.remove(on, parents);
    },
    relabel: (on, parents, labels) => passages.relabel(on, parents, labels),
  },
  originals: { adopt: adoptOriginal, remove: removeOriginal },
};
