import { isLong } from '../../../base/exact-json.ts';
import type { AmongThreads } from '../../contracts/entries.ts';
import type { EntryFilter, MetadataCondition, Scalar } from '../../contracts/entry-filter.ts';
import type { Dialect, KeyRows, Statements } from '../../dialect.ts';
import { type Condition, type ListValue, numberOf, type SqlValue } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { bothForms } from '../both-forms.ts';
import { comparable, headOf, type MetadataField, pathText } from './metadata-fields.ts';

/** The conditions on the columns of an entry `o` that never change. */
export function columnConditions(filter: EntryFilter, dialect: Dialect): Condition[] {
  const { ids } = filter;
  return [
    ...(ids === undefined ? [] : [{ sql: `o.key IN (${dialect.integers})`, values: [{ list: ids }] }]),
    ...amongThreads(filter, dialect),
    ...present([
      ['o.thread_id = ?', filter.threadId && storable(filter.threadId)],
      ['o.source = ?', filter.source],
      ['o.created_at >= ?', filter.createdFrom],
      ['o.created_at <= ?', filter.createdTo],
    ]),
  ];
}

/** On an entry `o`, where the caller may not know of all. */
export function amongThreads({ amongThreads: threads }: AmongThreads, dialect: Dialect): Condition[] {
  if (threads === undefined) return [];
  return [{ sql: `o.thread_id IN (${dialect.texts})`, values: [{ list: threads.map(storable) }] }];
}

/** The conditions on what an update can change: content type, tags, and those fields of metadata that are indexed. */
export function changingConditions(filter: EntryFilter, dialect: Dialect): Condition[] {
  return [...typeCondition(filter), ...setConditions(filter, dialect).map(({ listed }) => listed)];
}

/**
 * The same, for a statement that goes through entries in an order and stops early: conditions that hold for many entries are
 * tested on each entry instead of being listed first. SQLite does not weigh the ways to do that itself,
 and PostgreSQL takes
 * the parts of a condition for independent, so that it expects few entries where there are many.
 */
export async function weighedConditions(on: Statements, filter: EntryFilter): Promise<WeighedConditions> {
  const chosen: Condition[] = [];
  const rows: KeyRows[] = [];
  let isWide = true;
  for (const { listed, tested, probe, rows: own } of setConditions(filter, on.dialect)) {
    const holdsForMany = probe !== undefined && (probe === 'wide' || (await holdsForManyRows(on, probe)));
    if (!holdsForMany) isWide = false;
    chosen.push(holdsForMany ? tested : listed);
    if (own !== undefined) rows.push(own);
  }
  return { conditions: [...typeCondition(filter), ...chosen], isWide, rows };
}

export interface WeighedConditions {
  readonly conditions: readonly Condition[];
  /** Nothing narrows it much: it is cheaper to test entries that are there anyway than to list those that fit. */
  readonly isWide: boolean;
  /** Of those conditions that ask for a row. */
  readonly rows: readonly KeyRows[];
}

export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Rows from which on testing is cheaper than listing. */
const wideRows = 500;

async function holdsForManyRows(on: Statements, probe: Condition): Promise<boolean> {
  const look = async () => {
    const [row = {}] = await on.query(`SELECT count(*) AS total FROM (${probe.sql}) AS probed`, probe.values);
    return numberOf(row, 'total') >= wideRows;
  };
  return on.dialect.verdicts === undefined ? look() : on.dialect.verdicts(probe, look);
}

function typeCondition(filter: EntryFilter): Condition[] {
  return present([['o.content_type = ?', filter.contentType]]);
}

function present(columns: readonly [sql: string, value: string | undefined][]): Condition[] {
  return columns.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }]));
}

/** A condition on rows that belong to an entry, in two forms, and what counts its rows where that is cheap. */
interface SetCondition {
  readonly listed: Condition;
  readonly tested: Condition;
  /** `wide`: it holds for most entries, as a rule. */
  readonly probe: Condition | 'wide' | undefined;
  /** The rows of which an entry must have one. */
  readonly rows?: KeyRows;
}

function setConditions(filter: EntryFilter, dialect: Dialect): SetCondition[] {
  const conditions = (filter.metadata ?? []).map((condition) => fieldCondition(condition, dialect));
  if (filter.tags === undefined) return conditions;
  const from = `${dialect.schema}context_tags t WHERE t.tag IN (${dialect.texts})`;
  return [setCondition('t', from, [{ list: bothForms(filter.tags) }], true, dialect), ...conditions];
}

function setCondition(
  alias: string,
  from: string,
  values: Condition['values'],
  isCounted: boolean,
  { fence }: Dialect,
): SetCondition {
  return {
    listed: { sql: `o.key IN (SELECT ${alias}.entry FROM ${from})`, values },
    tested: { sql: `EXISTS (SELECT 1 FROM ${from} AND ${alias}.entry = o.key${fence})`, values },
    probe: isCounted ? { sql: `SELECT 1 FROM ${from} LIMIT ${wideRows}`, values } : undefined,
    rows: { key: `${alias}.entry`, sql: from, values },
  };
}

/** Whether the filter lets everything through that is not removed. */
export function isOpen(filter: EntryFilter): boolean {
  const { amongThreads: threads, ...others } = filter;
  if (threads !== undefined) return false;
  return Object.values(others).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
}

function fieldCondition(condition: MetadataCondition, dialect: Dialect): SetCondition {
  const fields = `${dialect.schema}context_fields f WHERE`;
  const path = pathText(condition.path);
  if (condition.operator === 'not_exists') {
    const sql = `NOT EXISTS (SELECT 1 FROM ${fields} f.entry = o.key AND f.path = ? AND f.member = 0
      AND f.kind <> 'null')`;
    const missing = { sql, values: [path] };
    return { listed: missing, tested: missing, probe: 'wide' };
  }
  const member = members[condition.operator] ?? 'AND f.member = 0';
  const of = (test: Condition) => ({
    from: `${fields} f.path = ? ${member} AND ${test.sql}`,
    values: [path, ...test.values],
  });
  if (isTextSearch(condition)) {
    const [short, long] = partTests(condition, dialect).map(of);
    if (short !== undefined && long !== undefined) return textSearch(short, long);
  }
  const { from, values } = of(valueTest(condition, dialect));
  const found = setCondition('f', from, values, condition.operator !== 'starts_with', dialect);
  const { textAt } = dialect;
  if (condition.operator !== 'eq' || textAt === undefined) return found;
  const same = of(equals(condition.value, condition.caseSensitive, (head) => ({ sql: textAt, values: [path, head] })));
  return { ...found, rows: { key: 'f.entry', sql: same.from, values: same.values } };
}

/** `contains` is also asked of the texts of an array, which have rows where the index has those of arrays: of every row. */
const members: Partial<Record<MetadataCondition['operator'], string>> = {
  array_contains: 'AND f.member > 0',
  contains: '',
};

/**
 * A part of a text is found by reading every text: of those that are short, in the index, and of the others where they
 * are kept. Counting first would do it twice.
 */
function textSearch(short: RowsOf, long: RowsOf): SetCondition {
  const values = [...short.values, ...long.values];
  const listed = `SELECT f.entry FROM ${short.from} UNION ALL SELECT f.entry FROM ${long.from}`;
  const found = { sql: `o.key IN (${listed})`, values };
  return { listed: found, tested: found, probe: undefined };
}

interface TextSearch {
  readonly operator: 'contains' | 'ends_with';
  readonly value: string;
  readonly caseSensitive: boolean;
}

function isTextSearch(condition: MetadataCondition): condition is MetadataCondition & TextSearch {
  return condition.operator === 'contains' || condition.operator === 'ends_with';
}

interface RowsOf {
  readonly from: string;
  readonly values: Condition['values'];
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
    case 'starts_with':
      return beginning(condition.value, condition.caseSensitive, dialect);
    case 'contains':
    case 'ends_with':
      return { sql: "f.kind = 'string'", values: [] };
    case 'is_null':
      return { sql: "f.kind = 'null'", values: [] };
    default:
      return { sql: "f.kind <> 'null'", values: [] };
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** `atHead`: a condition that texts with this head fulfil, and perhaps others. */
function equals(value: Scalar, caseSensitive: boolean, atHead = sameHead): Condition {
  const { kind, head, folded, exact, number } = comparable(value);
  if (kind !== 'string') {
    const same = { sql: 'f.kind = ? AND f.number = ?', values: [kind, number] };
    return folded === '' ? same : allOf([same, { sql: 'f.folded = ?', values: [folded] }]);
  }
  const texts = [{ sql: isText, values: [] }, atHead(head), { sql: 'f.folded = ?', values: [folded] }];
  return allOf(caseSensitive ? [...texts, { sql: `${exactText} = ?`, values: [exact] }] : texts);
}

function sameHead(head: string): Condition {
  return { sql: 'f.head = ?', values: [head] };
}

/** Present, not null, and different, which includes another type. */
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
    const ofKind = wanted.filter((each) => each.kind === kind);
    const numbers = ofKind.flatMap(({ number }) => number ?? []);
    if (numbers.length === 0) continue;
    // Digits are there of long integers only, and are different for each.
    const digits = ofKind.some(({ folded }) => folded !== '') ? [listOf(ofKind, 'folded')] : [];
    const decided = digits.length > 0 ? ` AND f.folded IN (${dialect.texts})` : '';
    tests.push(`(f.kind = '${kind}' AND f.number IN (${dialect.numbers})${decided})`);
    bound.push({ list: numbers }, ...digits);
  }
  return { sql: `(${tests.join(' OR ')})`, values: bound };
}

function listOf(fields: readonly Pick<MetadataField, 'head' | 'folded' | 'exact'>[], key: 'head' | 'folded' | 'exact') {
  return { list: [...new Set(fields.map((field) => field[key]))] };
}

function compared(sign: string, value: string | number | bigint, caseSensitive: boolean): Condition {
  if (isLong(value)) return comparedDigits(sign, value);
  if (typeof value !== 'string') return { sql: `f.kind = 'number' AND f.number ${sign} ?`, values: [Number(value)] };
  const { exact, folded } = comparable(value);
  const sql = `f.kind = 'string' AND ${textColumn(caseSensitive)} ${sign} ?`;
  return { sql, values: [caseSensitive ? exact : folded] };
}

/** Of those that are the same double, the digits decide. */
function comparedDigits(sign: string, value: number | bigint): Condition {
  const { number, folded } = comparable(value);
  const outer = sign.slice(0, 1);
  return {
    sql: `f.kind = 'number' AND f.number ${outer}= ? AND (f.number ${outer} ? OR f.folded ${sign} ?)`,
    values: [number, number, folded],
  };
}

const isText = "f.kind = 'string'";

function beginning(value: string, caseSensitive: boolean, dialect: Dialect): Condition {
  // Every text has the empty one in it, which the functions of the databases do not agree on.
  if (value === '') return { sql: isText, values: [] };
  const { exact, folded } = comparable(value);
  const head = headOf(folded)
    .slice(0, shortUnits)
    .replace(/[\ud800-\udfff]$/u, '');
  const next = following(head);
  const range = next === undefined ? [head] : [head, next];
  return {
    sql: `${isText} AND f.head >= ? ${next === undefined ? '' : 'AND f.head < ? '}AND ${dialect.position(textColumn(caseSensitive), '?')} = 1`,
    values: [...range, caseSensitive ? exact : folded],
  };
}

/** The smallest text after everything with this prefix, by code point. */
function following(text: string): string | undefined {
  const characters = Array.from(text);
  while (characters.length > 0) {
    const last = characters.pop()?.codePointAt(0) ?? 0;
    if (last >= 0x10ffff) continue;
    return [...characters, String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)].join('');
  }
  return undefined;
}

/** A shorter head was not truncated: it is the whole folded text. */
const shortUnits = 50;

/** The test for texts that lie in the index whole, and the one for longer ones. Both have to be asked. */
function partTests({ operator, value, caseSensitive }: TextSearch, dialect: Dialect): Condition[] {
  if (value === '') return [];
  const { exact, folded } = comparable(value);
  const has = (column: string, part: string): Condition =>
    operator === 'contains'
      ? { sql: `${dialect.position(column, '?')} > 0`, values: [part] }
      : { sql: `${dialect.ending(column, '?')} = ?`, values: [part, part] };
  const inHead = has('f.head', folded);
  const inText = has(textColumn(caseSensitive), caseSensitive ? exact : folded);
  // Where case counts, the index finds those that differ in nothing else, and the text decides.
  const short = caseSensitive ? allOf([inHead, inText]) : inHead;
  return [
    // The length last: it is asked of those few that have the part.
    { sql: `${isText} AND ${short.sql} AND length(f.head) < ${shortUnits}`, values: short.values },
    { sql: `${isText} AND ${inText.sql} AND length(f.head) >= ${shortUnits}`, values: inText.values },
  ];
}

function textColumn(caseSensitive: boolean): string {
  return caseSensitive ? exactText : 'f.folded';
}
