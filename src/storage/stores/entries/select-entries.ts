import type { EntryFilter, MetadataCondition } from '../../contracts/entry-filter.ts';
import type { Dialect, KeyRows, Statements } from '../../dialect.ts';
import { type Condition, numberOf, optionalTextOf, type Row } from '../../rows.ts';
import { bothForms } from '../both-forms.ts';
import { pastStates } from './entry-history.ts';
import { allOf, changingConditions, columnConditions, isOpen, weighedConditions } from './filter-condition.ts';
import { createFieldIndex, readFieldNames } from './indexed-fields.ts';
import { parseMetadata, pathText } from './metadata-fields.ts';
import { matchesMetadata, necessaryOf } from './metadata-match.ts';

/** How the entries that a filter lets through are found. */
export interface Selection {
  /** On the entries `o`. */
  readonly condition: Condition;
  /** See filter-condition. */
  readonly isWide: boolean;
  /** See KeyFilter. */
  readonly onKeys?: Condition | undefined;
  readonly rows?: readonly KeyRows[] | undefined;
  /** What the condition leaves open, asked of a row with `key` and `metadata`. Undefined where it leaves nothing open. */
  readonly passes: ((row: Row) => boolean) | undefined;
  /** The fields that it is asked for, for the plan. */
  readonly unindexed: readonly string[];
}

/**
 * `search`: entries that are found by today's text,
   so that one whose text was another at `asOf` must not be. `some`: a page
 * of them is wanted, or they are tested one by one; see weighedConditions. `all`: the keys of all are.
 */
export async function selectEntries(
  on: Statements,
  filter: EntryFilter,
  use: 'read' | 'search',
  wanted: 'some' | 'all',
): Promise<Selection> {
  const { indexed, unindexed } = await partedByIndex(on, filter.metadata ?? []);
  const rest = { ...filter, metadata: indexed };
  const { conditions, isWide, rows } =
    filter.asOf === undefined && wanted === 'some'
      ? await weighedConditions(on, rest)
      : { conditions: changingConditions(rest, on.dialect), isWide: false, rows: [] };
  const changing = [...conditions, ...unindexed.flatMap((each) => necessaryOf(each, on.dialect))];
  const names = unindexed.map(({ path }) => path.join('.'));
  const passes = (row: Row) => matchesMetadata(metadataOf(row), unindexed);
  const tested = unindexed.length === 0 ? undefined : passes;
  if (filter.asOf === undefined) {
    const columns = columnConditions(filter, on.dialect);
    const condition = allOf([{ sql: 'o.deleted_at IS NULL', values: [] }, ...columns, ...changing]);
    const asksKeys = columns.length === 0 && filter.contentType === undefined && unindexed.length === 0;
    return {
      condition,
      isWide: isWide && tested === undefined,
      onKeys: asksKeys && changing.length > 0 ? allOf(changing) : undefined,
      rows: asksKeys && changing.length > 0 && rows.length === changing.length ? rows : undefined,
      passes: tested,
      unindexed: names,
    };
  }
  const past = await changedEntries(on, filter, filter.asOf);
  const kept = new Set(use === 'read' ? past.found : past.sameText);
  const unchanged = allOf([{ sql: 'o.updated_at <= ?', values: [filter.asOf] }, ...changing]);
  return {
    condition: allOf([
      existedAt(filter.asOf, on.dialect),
      ...(use === 'search' ? [{ sql: 'o.deleted_at IS NULL', values: [] }] : []),
      ...columnConditions(filter, on.dialect),
      {
        sql: `((${unchanged.sql}) OR o.key IN (${on.dialect.integers}))`,
        values: [...unchanged.values, { list: [...kept] }],
      },
    ]),
    isWide: false,
    passes: tested && ((row) => kept.has(numberOf(row, 'key')) || tested(row)),
    unindexed: names,
  };
}

/** Entries that were there: created by then, and not removed at that time. */
export function existedAt(asOf: string, dialect: Dialect): Condition {
  return {
    sql: `o.created_at <= ? AND (o.deleted_at IS NULL OR o.deleted_at > ?) AND NOT EXISTS (SELECT 1
      FROM ${dialect.schema}context_absences a WHERE a.entry = o.key AND a.removed_at <= ? AND a.restored_at > ?)`,
    values: [asOf, asOf, asOf, asOf],
  };
}

export interface ChangedEntries {
  /** Those that matched the filter at the time. */
  readonly found: readonly number[];
  /** Of these, those whose text is still the same. */
  readonly sameText: readonly number[];
  /** How many there are whose earlier state is unknown. */
  readonly unknown: number;
}

/** The entries that existed at the time and were changed since. */
export async function changedEntries(on: Statements, filter: EntryFilter, asOf: string): Promise<ChangedEntries> {
  const { sql, values } = allOf([
    existedAt(asOf, on.dialect),
    { sql: 'o.updated_at > o.created_at AND o.updated_at > ?', values: [asOf] },
    ...columnConditions(filter, on.dialect),
  ]);
  const rows = await on.query(`SELECT o.key FROM ${on.dialect.schema}context_entries o WHERE ${sql}`, values);
  const states = await pastStates(
    on,
    rows.map((row) => numberOf(row, 'key')),
    asOf,
  );
  const known = [...states].flatMap(([id, state]) => (state === undefined ? [] : [{ id, ...state }]));
  const wanted = filter.tags && bothForms(filter.tags);
  const found = known.filter(
    ({ contentType, tags, metadata }) =>
      (filter.contentType === undefined || filter.contentType === contentType) &&
      (wanted === undefined || wanted.some((tag) => tags.includes(tag))) &&
      matchesMetadata(metadata ?? {}, filter.metadata ?? []),
  );
  return {
    found: found.map(({ id }) => id),
    sameText: found.filter(({ textVersion }) => textVersion === undefined).map(({ id }) => id),
    unknown: states.size - known.length,
  };
}

/** The keys of a selection, ascending. */
export async function selectedKeys(on: Statements, { condition, passes }: Selection): Promise<number[]> {
  const from = `${on.dialect.schema}context_entries o WHERE ${condition.sql}`;
  if (passes === undefined) {
    const rows = await on.query(`SELECT o.key FROM ${from} ORDER BY o.key`, condition.values);
    return rows.map((row) => numberOf(row, 'key'));
  }
  const keys: number[] = [];
  for (let after = 0; ; ) {
    const rows = await on.query(`SELECT o.key, o.metadata FROM ${from} AND o.key > ? ORDER BY o.key LIMIT ?`, [
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

/** Metadata that is read at once: bounded by memory, not by time. */
const scanRows = 20_000;

/** For a search that the database performs: a condition that leaves nothing open. Undefined where everything may be found. */
export async function searchCondition(
  on: Statements,
  filter: EntryFilter,
): Promise<Pick<Selection, 'isWide' | 'onKeys' | 'rows'> & { condition: Condition | undefined; selection: Selection }> {
  const selection = await selectEntries(on, filter, 'search', 'some');
  // The word index holds only what is not removed.
  if (isOpen(filter)) return { condition: undefined, isWide: true, selection };
  if (selection.passes === undefined) return { ...selection, selection };
  const keys = await selectedKeys(on, selection);
  return {
    condition: { sql: `o.key IN (${on.dialect.integers})`, values: [{ list: keys }] },
    isWide: false,
    selection,
  };
}

async function partedByIndex(on: Statements, conditions: readonly MetadataCondition[]) {
  const indexed: MetadataCondition[] = [];
  const unindexed: MetadataCondition[] = [];
  if (conditions.length === 0) return { indexed, unindexed };
  const index = createFieldIndex(await readFieldNames(on, 'none'));
  for (const condition of conditions) {
    const covers = index.covers(condition);
    const isCovered = covers === 'unless-array' ? !(await hasArrays(on, condition)) : covers;
    (isCovered ? indexed : unindexed).push(condition);
  }
  return { indexed, unindexed };
}

async function hasArrays(on: Statements, { path }: MetadataCondition): Promise<boolean> {
  const sql = `SELECT 1 FROM ${on.dialect.schema}context_fields f WHERE f.path = ? AND f.kind = 'array' LIMIT 1`;
  return (await on.query(sql, [pathText(path)])).length > 0;
}

function metadataOf(row: Row) {
  const metadata = optionalTextOf(row, 'metadata');
  return metadata === undefined ? {} : parseMetadata(metadata);
}
