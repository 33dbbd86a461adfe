import type { WeighedWords, WeighRequest } from '../../../words/ranking/word-index.ts';
import type {
  Entry,
  EntryPage,
  EntryText,
  GetRequest,
  ListRequest,
  PastGaps,
  ScoredPage,
  TextsRequest,
  WordSearchRequest,
} from '../../contracts/entries.ts';
import type { Dialect } from '../../dialect.ts';
import { type Condition, type ListValue, numberOf, type Row, type SqlValue, textOf } from '../../statements.ts';
import type { EntryFilter } from './entry-filter.ts';
import { entriesThen } from './entry-history.ts';
import { entriesOf } from './entry-rows.ts';
import { readSetting } from './entry-settings.ts';
import { allOf } from './filter-condition.ts';
import {
  changedEntries,
  existedAt,
  type Selection,
  searchCondition,
  selectEntries,
  selectedKeys,
} from './select-entries.ts';
import { ask, query, type Work } from './work.ts';

export interface EntryReads {
  get(request: GetRequest): Work<Entry[]>;
  list(request: ListRequest): Work<EntryPage>;
  searchWords(request: WordSearchRequest): Work<ScoredPage>;
  weighWords(request: WeighRequest): Work<WeighedWords>;
  matching(request: EntryFilter): Work<number[]>;
  texts(request: TextsRequest): Work<EntryText[]>;
  pastGaps(request: EntryFilter & { readonly asOf: string }): Work<PastGaps>;
}

export function createEntryReads(dialect: Dialect): EntryReads {
  const entries = `${dialect.schema}context_entries`;
  return {
    *get({ ids, images, asOf }) {
      const condition = allOf([amongKeys(ids), asOf === undefined ? live : existedAt(asOf, dialect)]);
      const { sql, values } = newestFirst('o.*', condition, undefined, ids.length, 0);
      return yield* shown(yield* query(sql, ...values), images, asOf);
    },
    *list({ filter, limit, offset, images, explain }) {
      const selection = yield* selectEntries(filter, dialect, 'read', 'some');
      const page = newestFirst('o.*', selection.condition, undefined, limit, offset);
      const rows =
        selection.passes === undefined
          ? yield* query(page.sql, ...page.values)
          : yield* testedRows(selection, limit, offset);
      return {
        entries: yield* shown(rows, images, filter.asOf),
        plan: explain ? yield* planOf(page, selection) : undefined,
      };
    },
    *searchWords({ query: words, filter, limit, offset, explain }) {
      const { condition, isWide, selection } = yield* searchCondition(filter, dialect);
      const { found, total, scoreMax } = yield* ask((engine) =>
        engine.findWords(words, condition, isWide, { limit, offset }),
      );
      const { sql, values } = selection.condition;
      return {
        hits: found.map(({ key, score }) => ({ id: key, score })),
        total,
        scoreMax,
        plan: explain
          ? yield* planOf({ sql: `SELECT o.key FROM ${entries} o WHERE ${sql}`, values }, selection)
          : undefined,
      };
    },
    weighWords: (request) => ask((engine) => engine.weighWords(request)),
    *matching(filter) {
      return yield* selectedKeys(yield* selectEntries(filter, dialect, 'search', 'all'), dialect);
    },
    *texts({ filter, after, limit }) {
      const { condition, passes } = yield* selectEntries(filter, dialect, 'read', 'some');
      const found: Row[] = [];
      for (let from = after; ; ) {
        const rows = yield* query(
          `SELECT o.* FROM ${entries} o WHERE ${condition.sql} AND o.key > ? ORDER BY o.key LIMIT ?`,
          ...[...condition.values, from, limit],
        );
        found.push(...(passes === undefined ? rows : rows.filter(passes)));
        const last = rows.at(-1);
        if (last === undefined || rows.length < limit || found.length >= limit) break;
        from = numberOf(last, 'key');
      }
      const wanted = found.slice(0, limit);
      if (filter.asOf === undefined)
        return wanted.map((row) => ({ id: numberOf(row, 'key'), text: textOf(row, 'text_content') }));
      return (yield* shown(wanted, false, filter.asOf)).map(({ id, text }) => ({ id, text }));
    },
    *pastGaps(filter) {
      const { found, sameText, unknown } = yield* changedEntries(filter, filter.asOf, dialect);
      const selection = yield* selectEntries(filter, dialect, 'read', 'all');
      const removed = allOf([selection.condition, { sql: 'o.deleted_at IS NOT NULL', values: [] }]);
      const same = new Set(sameText);
      const unsearched = new Set([
        ...(yield* selectedKeys({ ...selection, condition: removed }, dialect)),
        ...found.filter((id) => !same.has(id)),
      ]);
      const purgedTo = yield* readSetting('purged_to', 'none', dialect);
      return { unknown, unsearched: unsearched.size, purged: purgedTo !== undefined && purgedTo > filter.asOf };
    },
  };

  function* shown(rows: readonly Row[], images: boolean, asOf: string | undefined): Work<Entry[]> {
    const found = yield* entriesOf(rows, images, dialect);
    return asOf === undefined ? found : yield* entriesThen(found, asOf, dialect);
  }

  function newestFirst(
    columns: string,
    condition: Condition,
    before: Row | undefined,
    limit: number,
    offset: number,
  ): Condition {
    const behind = before === undefined ? '' : 'AND (o.created_at, o.key) < (?, ?)';
    const place = before === undefined ? [] : [textOf(before, 'created_at'), numberOf(before, 'key')];
    return {
      sql: `SELECT ${columns} FROM ${entries} o WHERE ${condition.sql} ${behind}
        ORDER BY o.created_at DESC, o.key DESC LIMIT ? OFFSET ?`,
      values: [...condition.values, ...place, limit, offset],
    };
  }

  /** Goes through the metadata, of more entries at a time the fewer of them pass. */
  function* testedRows({ condition, passes }: Selection, limit: number, offset: number): Work<Row[]> {
    const found: Row[] = [];
    let before: Row | undefined;
    for (let size = 2 * (limit + offset) + 100; ; size = Math.min(2 * size, 5_000)) {
      const page = newestFirst('o.key, o.created_at, o.metadata', condition, before, size, 0);
      const rows = yield* query(page.sql, ...page.values);
      for (const row of rows) if (passes?.(row)) found.push(row);
      before = rows.at(-1);
      if (before === undefined || rows.length < size || found.length >= offset + limit) break;
    }
    const keys = found.slice(offset, offset + limit).map((row) => numberOf(row, 'key'));
    const { sql, values } = newestFirst('o.*', amongKeys(keys), undefined, limit, 0);
    return yield* query(sql, ...values);
  }

  function amongKeys(keys: readonly number[]): Condition {
    return { sql: `o.key IN (${dialect.integers})`, values: [{ list: keys }] };
  }

  function* planOf(
    { sql, values }: { sql: string; values: readonly (SqlValue | ListValue)[] },
    { unindexed }: Selection,
  ): Work<string> {
    const rows = yield* query(dialect.explain(sql), ...values);
    const tested = unindexed.map((name) => `metadata ${name}: not indexed, read from each of these entries`);
    return [...rows.map(dialect.planLine), ...tested].join('\n');
  }
}

const live: Condition = { sql: 'o.deleted_at IS NULL', values: [] };
