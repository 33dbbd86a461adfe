import type { Statements } from '../dialect.ts';
import { numberOf, type Row, type SqlFragment } from '../rows.ts';
import { allOf } from '../statements.ts';
import { bothForms } from '../storable.ts';
import { type EntryFilter, type MetadataCondition, metadataOf } from './entry.ts';
import { pastStates } from './entry-history.ts';
import { createFieldIndex } from './field-index.ts';
import { changingConditions, columnConditions, fieldCondition, isLive, matchesAll } from './filter-condition.ts';
import { readFieldNames } from './indexed-fields.ts';
import { matchesMetadata } from './metadata.ts';

/** How to find the entries that pass a filter. */
export interface Selection {
  /** The condition on entries `o`. */
  readonly condition: SqlFragment;
  /** Tests a row, which needs `key` and `metadata`. Undefined if the condition alone decides. */
  readonly passes: ((row: Row) => boolean) | undefined;
  /** Fields that are not indexed, for the query plan. */
  readonly unindexed: readonly string[];
}

/**
 * Plans how to find the entries that pass a filter. With `asOf`, `search` omits entries that were removed later or whose text
 * changed later, because the indexes cannot find them.
 */
export async function selectEntries(db: Statements, filter: EntryFilter, use: 'read' | 'search'): Promise<Selection> {
  const { fields, undecided, unindexed } = await metadataConditions(db, filter.metadata ?? []);
  const changing = changingConditions(filter, fields, db.dialect);
  const passes = undecided.length === 0 ? undefined : (row: Row) => matchesMetadata(metadataOf(row) ?? {}, undecided);
  if (filter.asOf === undefined) {
    const condition = allOf([isLive, ...columnConditions(filter, db.dialect), ...changing]);
    return { condition, passes, unindexed };
  }
  const past = await changedEntries(db, filter, filter.asOf);
  const changed = new Set(use === 'read' ? past.matching : past.sameText);
  const unchanged = allOf([{ sql: 'o.updated_at <= ?', values: [filter.asOf] }, ...changing]);
  return {
    condition: allOf([
      existedAt(filter.asOf),
      ...(use === 'search' ? [isLive] : []),
      ...columnConditions(filter, db.dialect),
      {
        sql: `((${unchanged.sql}) OR o.key IN (${db.dialect.integers}))`,
        values: [...unchanged.values, { list: [...changed] }],
      },
    ]),
    passes: passes && ((row) => changed.has(numberOf(row, 'key')) || passes(row)),
    unindexed,
  };
}

/** Returns the condition for entries that existed at a time: they had been created and were not removed. */
export function existedAt(asOf: string): SqlFragment {
  return {
    sql: `o.created_at <= ? AND (o.deleted_at IS NULL OR o.deleted_at > ?) AND NOT EXISTS (SELECT 1
      FROM context_absences a WHERE a.entry = o.key AND a.removed_at <= ? AND a.restored_at > ?)`,
    values: [asOf, asOf, asOf, asOf],
  };
}

export interface ChangedEntries {
  /** Ids of entries that matched the filter at that time. */
  readonly matching: readonly number[];
  /** Ids of the matching entries whose text is still the same. */
  readonly sameText: readonly number[];
  /** Number of entries whose earlier state is unknown. */
  readonly unknown: number;
}

/** Finds the entries that existed at a time and were changed since. */
export async function changedEntries(db: Statements, filter: EntryFilter, asOf: string): Promise<ChangedEntries> {
  const { sql, values } = allOf([
    existedAt(asOf),
    { sql: 'o.updated_at > o.created_at AND o.updated_at > ?', values: [asOf] },
    ...columnConditions(filter, db.dialect),
  ]);
  const rows = await db.query(`SELECT o.key FROM context_entries o WHERE ${sql}`, values);
  const states = await pastStates(
    db,
    rows.map((row) => numberOf(row, 'key')),
    asOf,
  );
  const stored = [...states].flatMap(([id, state]) => (state === undefined ? [] : [{ id, ...state }]));
  const tagForms = filter.tags && bothForms(filter.tags);
  const matching = stored.filter(
    ({ contentType, tags, metadata }) =>
      (filter.contentType === undefined || filter.contentType === contentType) &&
      (tagForms === undefined || tagForms.some((tag) => tags.includes(tag))) &&
      matchesMetadata(metadata ?? {}, filter.metadata ?? []),
  );
  return {
    matching: matching.map(({ id }) => id),
    sameText: matching.filter(({ textVersion }) => textVersion === undefined).map(({ id }) => id),
    unknown: states.size - stored.length,
  };
}

/** Returns the keys of a selection, ascending. */
export async function selectedKeys(db: Statements, { condition, passes }: Selection): Promise<number[]> {
  const from = `context_entries o WHERE ${condition.sql}`;
  if (passes === undefined) {
    const rows = await db.query(`SELECT o.key FROM ${from} ORDER BY o.key`, condition.values);
    return rows.map((row) => numberOf(row, 'key'));
  }
  const keys: number[] = [];
  for (let after = 0; ; ) {
    const rows = await db.query(`SELECT o.key, o.metadata FROM ${from} AND o.key > ? ORDER BY o.key LIMIT ?`, [
      ...condition.values,
      after,
      scanRows,
    ]);
    for (const row of rows) if (passes(row)) keys.push(numberOf(row, 'key'));
    const last = rows.at(-1);
    if (last === undefined || rows.length < scanRows) return keys;
    after = numberOf(last, 'key');
  }
}

/** Max rows read at a time, to limit memory. */
const scanRows = 20_000;

/** Returns the complete condition for a search in the database. Undefined if all entries pass. */
export async function searchCondition(
  db: Statements,
  filter: EntryFilter,
): Promise<{ condition: SqlFragment | undefined; selection: Selection }> {
  const selection = await selectEntries(db, filter, 'search');
  // No condition is needed: the word index contains only entries that are not removed.
  if (matchesAll(filter)) return { condition: undefined, selection };
  if (selection.passes === undefined) return { condition: selection.condition, selection };
  const keys = await selectedKeys(db, selection);
  return { condition: { sql: `o.key IN (${db.dialect.integers})`, values: [{ list: keys }] }, selection };
}

/** Translates metadata conditions into SQL. `matchesMetadata` must decide the `undecided` ones. */
async function metadataConditions(db: Statements, conditions: readonly MetadataCondition[]) {
  const fields: SqlFragment[] = [];
  const undecided: MetadataCondition[] = [];
  const unindexed: string[] = [];
  if (conditions.length === 0) return { fields, undecided, unindexed };
  const index = createFieldIndex(await readFieldNames(db));
  for (const condition of conditions) {
    const isIndexed = index.has(condition.path);
    const { necessary, isExact } = fieldCondition(condition, isIndexed, db.dialect);
    if (necessary !== undefined) fields.push(necessary);
    if (!isExact) undecided.push(condition);
    if (!isIndexed) unindexed.push(condition.path.join('.'));
  }
  return { fields, undecided, unindexed };
}
