import type { EntryFilter, MetadataCondition, Scalar } from './entry-filter.ts';
import { comparable, foldCase, type MetadataField, pathText } from './metadata-fields.ts';
import { type Condition, type Dialect, type ListValue, query, type SqlValue, type Work } from './work.ts';

/** The filter as a condition on the entries `o`. Every value is bound, keys of metadata among them. */
export function filterCondition(filter: EntryFilter, dialect: Dialect): Condition {
  return joined(
    columnConditions(filter),
    setConditions(filter, dialect).map(({ listed }) => listed),
  );
}

/**
 * The same, for a statement that goes through entries in an order and stops early, in a database that does not weigh the
 * ways to do that itself: conditions that hold for many entries are tested on each entry instead of being listed first.
 */
export function* weighedCondition(filter: EntryFilter, dialect: Dialect): Work<WeighedCondition> {
  const sets = setConditions(filter, dialect);
  if (!dialect.weighs) return { condition: filterCondition(filter, dialect), isWide: false };
  const chosen: Condition[] = [];
  let isWide = true;
  for (const { listed, tested, probe } of sets) {
    const holdsForMany = probe !== undefined && (probe === 'wide' || (yield* countRows(probe)) >= wideRows);
    if (!holdsForMany) isWide = false;
    chosen.push(holdsForMany ? tested : listed);
  }
  return { condition: joined(columnConditions(filter), chosen), isWide };
}

export interface WeighedCondition {
  readonly condition: Condition;
  /** Nothing narrows it much: it is cheaper to test entries that are there anyway than to list those that fit. */
  readonly isWide: boolean;
}

/** Rows from which on testing is cheaper than listing. */
const wideRows = 500;

function* countRows({ sql, values }: Condition): Work<number> {
  return (yield* query(sql, ...values)).length;
}

function columnConditions(filter: EntryFilter): Condition[] {
  const columns: [sql: string, value: string | undefined][] = [
    ['o.thread_id = ?', filter.threadId],
    ['o.source = ?', filter.source],
    ['o.content_type = ?', filter.contentType],
    ['o.created_at >= ?', filter.createdFrom],
    ['o.created_at <= ?', filter.createdTo],
  ];
  return columns.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }]));
}

/** A condition on rows that belong to an entry, in two forms, and what counts its rows where that is cheap. */
interface SetCondition {
  readonly listed: Condition;
  readonly tested: Condition;
  /** `wide`: it holds for most entries, as a rule. */
  readonly probe: Condition | 'wide' | undefined;
}

function setConditions(filter: EntryFilter, dialect: Dialect): SetCondition[] {
  const conditions = (filter.metadata ?? []).map((condition) => fieldCondition(condition, dialect));
  if (filter.tags === undefined) return conditions;
  const from = `${dialect.schema}context_tags t WHERE t.tag IN (${dialect.texts})`;
  return [setCondition('t', from, [{ list: filter.tags }], true), ...conditions];
}

function setCondition(alias: string, from: string, values: Condition['values'], isCounted: boolean): SetCondition {
  return {
    listed: { sql: `o.key IN (SELECT ${alias}.entry FROM ${from})`, values },
    tested: { sql: `EXISTS (SELECT 1 FROM ${from} AND ${alias}.entry = o.key)`, values },
    probe: isCounted ? { sql: `SELECT 1 FROM ${from} LIMIT ${wideRows}`, values } : undefined,
  };
}

function joined(columns: readonly Condition[], sets: readonly Condition[]): Condition {
  const all = [...columns, ...sets];
  return {
    sql: ['o.deleted_at IS NULL', ...all.map(({ sql }) => sql)].join(' AND '),
    values: all.flatMap(({ values }) => values),
  };
}

/** Whether the filter lets everything through that is not removed. */
export function isOpen(filter: EntryFilter): boolean {
  return Object.values(filter).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
}

function fieldCondition(condition: MetadataCondition, dialect: Dialect): SetCondition {
  const fields = `${dialect.schema}context_fields f WHERE`;
  const path = pathText(condition.path);
  if (condition.operator === 'not_exists') {
    const sql = `NOT EXISTS (SELECT 1 FROM ${fields} f.entry = o.key AND f.path = ? AND f.member = 0 AND f.kind <> 'null')`;
    const missing = { sql, values: [path] };
    return { listed: missing, tested: missing, probe: 'wide' };
  }
  const member = condition.operator === 'array_contains' ? 'f.member > 0' : 'f.member = 0';
  const test = valueTest(condition, dialect);
  // A part of a text is found by reading every text: counting first would do it twice.
  const isCounted = !['contains', 'starts_with', 'ends_with'].includes(condition.operator);
  return setCondition('f', `${fields} f.path = ? AND ${member} AND ${test.sql}`, [path, ...test.values], isCounted);
}

const exactText = 'coalesce(f.exact, f.folded)';

function valueTest(condition: MetadataCondition, dialect: Dialect): Condition {
  switch (condition.operator) {
    case 'eq':
    case 'array_contains':
      return equals(condition.value, condition.caseSensitive);
    case 'ne':
      return unlike(equals(condition.value, condition.caseSensitive));
    case 'in':
      return amongst(condition.value, condition.caseSensitive, dialect);
    case 'not_in':
      return unlike(amongst(condition.value, condition.caseSensitive, dialect));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compared(comparisons[condition.operator], condition.value, condition.caseSensitive);
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return partOf(condition.operator, condition.value, condition.caseSensitive, dialect);
    case 'is_null':
      return { sql: "f.kind = 'null'", values: [] };
    default:
      return { sql: "f.kind <> 'null'", values: [] };
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function equals(value: Scalar, caseSensitive: boolean): Condition {
  const { kind, head, folded, exact, number } = comparable(value);
  if (kind !== 'string') return { sql: 'f.kind = ? AND f.number = ?', values: [kind, number] };
  const sql = "f.kind = 'string' AND f.head = ? AND f.folded = ?";
  if (!caseSensitive) return { sql, values: [head, folded] };
  return { sql: `${sql} AND ${exactText} = ?`, values: [head, folded, exact] };
}

/** Present, not null, and something else: of another type, too. */
function unlike({ sql, values }: Condition): Condition {
  return { sql: `f.kind <> 'null' AND NOT (${sql})`, values };
}

function amongst(values: readonly Scalar[], caseSensitive: boolean, dialect: Dialect): Condition {
  const tests: string[] = [];
  const bound: (SqlValue | ListValue)[] = [];
  const wanted = values.map(comparable);
  const texts = wanted.filter(({ kind }) => kind === 'string');
  if (texts.length > 0) {
    tests.push(
      `(f.kind = 'string' AND f.head IN (${dialect.texts}) AND ${textColumn(caseSensitive)} IN (${dialect.texts}))`,
    );
    bound.push(listOf(texts, 'head'), listOf(texts, caseSensitive ? 'exact' : 'folded'));
  }
  for (const kind of ['number', 'boolean'] as const) {
    const numbers = wanted.flatMap((each) => (each.kind === kind && each.number !== null ? [each.number] : []));
    if (numbers.length === 0) continue;
    tests.push(`(f.kind = '${kind}' AND f.number IN (${dialect.numbers}))`);
    bound.push({ list: numbers });
  }
  return { sql: `(${tests.join(' OR ')})`, values: bound };
}

function listOf(fields: readonly Pick<MetadataField, 'head' | 'folded' | 'exact'>[], key: 'head' | 'folded' | 'exact') {
  return { list: [...new Set(fields.map((field) => field[key]))] };
}

function compared(sign: string, value: string | number, caseSensitive: boolean): Condition {
  if (typeof value === 'number') return { sql: `f.kind = 'number' AND f.number ${sign} ?`, values: [value] };
  const { exact, folded } = comparable(value);
  const sql = `f.kind = 'string' AND ${textColumn(caseSensitive)} ${sign} ?`;
  return { sql, values: [caseSensitive ? exact : folded] };
}

function partOf(
  operator: 'contains' | 'starts_with' | 'ends_with',
  value: string,
  caseSensitive: boolean,
  dialect: Dialect,
): Condition {
  const kind = "f.kind = 'string'";
  // Every text has the empty one in it, which the functions of the databases do not agree on.
  if (value === '') return { sql: kind, values: [] };
  const { exact } = comparable(value);
  const part = caseSensitive ? exact : foldCase(exact);
  const column = textColumn(caseSensitive);
  if (operator === 'contains') return { sql: `${kind} AND ${dialect.position(column, '?')} > 0`, values: [part] };
  if (operator === 'starts_with') return { sql: `${kind} AND ${dialect.position(column, '?')} = 1`, values: [part] };
  return { sql: `${kind} AND ${dialect.ending(column, '?')} = ?`, values: [part, part] };
}

function textColumn(caseSensitive: boolean): string {
  return caseSensitive ? exactText : 'f.folded';
}
