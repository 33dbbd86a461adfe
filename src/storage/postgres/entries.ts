import type { EntryStore } from '../contracts/entries.ts';
import type { Dialect } from '../dialect.ts';
import type { ListValue, SqlValue } from '../statements.ts';
import { createEntryOperations } from '../stores/entries/entry-operations.ts';
import { entryStoreOf } from '../stores/entries/entry-store-of.ts';
import type { Engine } from '../stores/entries/work.ts';
import type { Connections, Statements } from './connections.ts';
import { createOperationRunner } from './operation-runner.ts';
import { createWordIndex, type WordIndex } from './word-index.ts';

/** An entry may be long, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

export function createEntryStore(connections: Connections, now: () => Date): EntryStore {
  const operations = createEntryOperations(postgresDialect);
  const words = createWordIndex({ name: 'context_entry', owner: 'context_entries', poolMax, totalMax });
  return entryStoreOf(
    createOperationRunner(operations, (statements) => createEngine(statements, words), connections, now),
  );
}

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
};

function createEngine(statements: Statements, words: WordIndex): Engine {
  return {
    query: (sql, values) => statements.query(numbered(sql), values.map(bound)),
    writeWords: (documents) => words.write(statements, documents),
    weighWords: (request) => words.weigh(statements, request),
    findWords: (query, condition, _isWide, page) =>
      words.find(
        statements,
        query,
        condition === undefined
          ? { sql: undefined, values: [] }
          : { sql: numbered(condition.sql), values: condition.values.map(bound) },
        page,
      ),
  };
}

/** Our statements hold no question mark besides those for values. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

export function bound(value: SqlValue | ListValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // A view of bytes would be sent as a list of numbers.
  return 'list' in value ? value.list : Buffer.from(value);
}
