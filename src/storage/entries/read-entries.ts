import type {
  Entry,
  EntryPage,
  EntryText,
  GetRequest,
  ListRequest,
  ScoredPage,
  TextsRequest,
  WordSearchRequest,
} from '../entries.ts';
import type { WeighedWords, WeighRequest } from '../word-index.ts';
import type { EntryFilter } from './entry-filter.ts';
import { entriesOf } from './entry-rows.ts';
import { filterCondition, isOpen, weighedCondition } from './filter-condition.ts';
import { ask, type Dialect, type ListValue, numberOf, query, type SqlValue, textOf, type Work } from './work.ts';

export interface EntryReads {
  get(request: GetRequest): Work<Entry[]>;
  list(request: ListRequest): Work<EntryPage>;
  searchWords(request: WordSearchRequest): Work<ScoredPage>;
  weighWords(request: WeighRequest): Work<WeighedWords>;
  matching(request: EntryFilter): Work<number[]>;
  texts(request: TextsRequest): Work<EntryText[]>;
}

export function createEntryReads(dialect: Dialect): EntryReads {
  const entries = `${dialect.schema}context_entries`;
  return {
    get: ({ ids, images }) => read(ids, images),
    *list({ filter, limit, offset, images, explain }) {
      const { sql, values } = (yield* weighedCondition(filter, dialect)).condition;
      const select = `SELECT o.* FROM ${entries} o WHERE ${sql} ORDER BY o.created_at DESC, o.key DESC LIMIT ? OFFSET ?`;
      const rows = yield* query(select, ...values, limit, offset);
      const plan = explain ? yield* planOf(select, [...values, limit, offset]) : undefined;
      return { entries: yield* entriesOf(rows, images, dialect), plan };
    },
    *searchWords({ query: words, filter, limit, offset, explain }) {
      const { condition, isWide } = yield* weighedCondition(filter, dialect);
      // The index holds only what is not removed.
      const needed = isOpen(filter) ? undefined : condition;
      const { found, total, scoreMax } = yield* ask((engine) =>
        engine.findWords(words, needed, isWide, { limit, offset }),
      );
      const select = `SELECT o.key FROM ${entries} o WHERE ${condition.sql}`;
      return {
        hits: found.map(({ key, score }) => ({ id: key, score })),
        total,
        scoreMax,
        plan: explain ? yield* planOf(select, condition.values) : undefined,
      };
    },
    weighWords: (request) => ask((engine) => engine.weighWords(request)),
    *matching(filter) {
      const { sql, values } = filterCondition(filter, dialect);
      const rows = yield* query(`SELECT o.key FROM ${entries} o WHERE ${sql} ORDER BY o.key`, ...values);
      return rows.map((row) => numberOf(row, 'key'));
    },
    *texts({ filter, after, limit }) {
      const { sql, values } = filterCondition(filter, dialect);
      const rows = yield* query(
        `SELECT o.key, o.text_content FROM ${entries} o WHERE ${sql} AND o.key > ? ORDER BY o.key LIMIT ?`,
        ...[...values, after, limit],
      );
      return rows.map((row) => ({ id: numberOf(row, 'key'), text: textOf(row, 'text_content') }));
    },
  };

  function* read(ids: readonly number[], images: boolean): Work<Entry[]> {
    const rows = yield* query(
      `SELECT o.* FROM ${entries} o WHERE o.key IN (${dialect.integers}) AND o.deleted_at IS NULL
       ORDER BY o.created_at DESC, o.key DESC`,
      { list: ids },
    );
    return yield* entriesOf(rows, images, dialect);
  }

  function* planOf(sql: string, values: readonly (SqlValue | ListValue)[]): Work<string> {
    const rows = yield* query(dialect.explain(sql), ...values);
    return rows.map(dialect.planLine).join('\n');
  }
}
