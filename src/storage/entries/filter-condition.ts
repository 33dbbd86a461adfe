import { isLong } from '../../base/exact-json.ts';
import type { Dialect } from '../dialect.ts';
import type { SqlFragment } from '../rows.ts';
import { allOf } from '../statements.ts';
import { bothForms, storable } from '../storable.ts';
import type { EntryFilter, MetadataCondition, Scalar, ThreadScope } from './entry.ts';
import { comparable, comparableText, pathText } from './metadata.ts';

/** SQL condition for entries `o` that are not removed. */
export const isLive: SqlFragment = { sql: 'o.deleted_at IS NULL', values: [] };

/** Returns the filter's conditions on columns of an entry `o` that never change. */
export function columnConditions(filter: EntryFilter, dialect: Dialect): SqlFragment[] {
  const { ids } = filter;
  return [
    ...(ids === undefined ? [] : [{ sql: `o.key IN (${dialect.integers})`, values: [{ list: ids }] }]),
    ...inVisibleThreads(filter, dialect),
    ...conditionsOn([
      ['o.thread_id = ?', filter.threadId && storable(filter.threadId)],
      ['o.source = ?', filter.source],
      ['o.created_at >= ?', filter.createdFrom],
      ['o.created_at <= ?', filter.createdTo],
    ]),
  ];
}

/** Returns the condition for entries `o` that the caller may see; none if the caller may see all. */
export function inVisibleThreads({ visibleThreads: threads }: ThreadScope, dialect: Dialect): SqlFragment[] {
  if (threads === undefined) return [];
  return [{ sql: `o.thread_id IN (${dialect.texts})`, values: [{ list: threads.map(storable) }] }];
}

/** Returns the filter's conditions on parts that an update can change. `fields` are the conditions on metadata. */
export function changingConditions(
  { contentType, tags }: EntryFilter,
  fields: readonly SqlFragment[],
  { texts }: Dialect,
): SqlFragment[] {
  const tagged = isListed(`t.entry FROM context_tags t WHERE t.tag IN (${texts})`);
  return [
    ...conditionsOn([['o.content_type = ?', contentType]]),
    ...(tags === undefined ? [] : [{ sql: tagged, values: [{ list: bothForms(tags) }] }]),
    ...fields,
  ];
}

/** Returns the condition that a SELECT lists the entry. Without IS TRUE, the databases might read and sort the whole list. */
function isListed(select: string): string {
  return `(o.key IN (SELECT ${select})) IS TRUE`;
}

function conditionsOn(columns: readonly [sql: string, value: string | undefined][]): SqlFragment[] {
  return columns.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }]));
}

/** Returns true if the filter matches all entries that are not removed. */
export function matchesAll(filter: EntryFilter): boolean {
  const { visibleThreads: threads, ...conditions } = filter;
  if (threads !== undefined) return false;
  return Object.values(conditions).every(
    (value) => value === undefined || (Array.isArray(value) && value.length === 0),
  );
}

/** A metadata condition in SQL. */
interface FieldCondition {
  /** Matches every entry that meets the condition, and maybe others. Undefined if SQL cannot exclude any entry. */
  readonly necessary: SqlFragment | undefined;
  /** True if `necessary` matches no other entries. If false, `matchesMetadata` decides. */
  readonly isExact: boolean;
}

export function fieldCondition(condition: MetadataCondition, isIndexed: boolean, dialect: Dialect): FieldCondition {
  if (!isIndexed) return { necessary: inJson(condition, dialect), isExact: false };
  const fields = `context_fields f WHERE`;
  const path = pathText(condition.path);
  if (condition.operator === 'not_exists') {
    const sql = `NOT EXISTS (SELECT 1 FROM ${fields} f.entry = o.key AND f.path = ? AND f.member = 0
      AND f.kind <> 'null')`;
    return { necessary: { sql, values: [path] }, isExact: true };
  }
  const { sql, values, isExact = true, members = 'f.member = 0' } = fieldTest(condition, dialect);
  const matches = isListed(`f.entry FROM ${fields} f.path = ? AND ${members} AND ${sql}`);
  return { necessary: { sql: matches, values: [path, ...values] }, isExact };
}

/** Returns a condition that searches the JSON text for the key and, in simple cases, its value. The JSON has no spaces. */
function inJson(condition: MetadataCondition, dialect: Dialect): SqlFragment | undefined {
  const key = condition.path.at(-1) ?? '';
  if (condition.operator === 'not_exists' || !isPrintableAscii(key)) return undefined;
  const part = `${JSON.stringify(key)}:${condition.operator === 'eq' ? jsonOf(condition.value, condition.caseSensitive) : ''}`;
  return { sql: `${dialect.position('o.metadata', '?')} > 0`, values: [part] };
}

/** Returns the value as JSON; empty if JSON can represent it in several ways. */
function jsonOf(value: Scalar, caseSensitive: boolean): string {
  if (isLong(value)) return '';
  return typeof value !== 'string' || (caseSensitive && isPrintableAscii(value)) ? JSON.stringify(value) : '';
}

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** A test on the rows `f` of one metadata path. */
interface FieldTest extends SqlFragment {
  /** Default: true. */
  readonly isExact?: boolean;
  /** SQL condition on the rows to test: the field itself (the default) or members of an array. */
  readonly members?: string;
}

const isText = "f.kind = 'string'";
const isPresent = "f.kind <> 'null'";

function fieldTest(condition: MetadataCondition, dialect: Dialect): FieldTest {
  switch (condition.operator) {
    case 'eq':
      return oneOf([condition.value], condition.caseSensitive, dialect);
    case 'in':
      return oneOf(condition.value, condition.caseSensitive, dialect);
    case 'ne':
      return negated(oneOf([condition.value], condition.caseSensitive, dialect));
    case 'not_in':
      return negated(oneOf(condition.value, condition.caseSensitive, dialect));
    case 'array_contains':
      return { ...oneOf([condition.value], condition.caseSensitive, dialect), members: 'f.member > 0' };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return ordered(comparisons[condition.operator], condition.value, condition.caseSensitive);
    case 'starts_with':
      return hasPart('= 1', condition, dialect);
    case 'ends_with':
      return { ...hasPart('> 0', condition, dialect), isExact: false };
    case 'contains':
      // Also searches the texts in an array.
      return { ...hasPart('> 0', condition, dialect), members: 'f.member >= 0' };
    case 'is_null':
      return { sql: "f.kind = 'null'", values: [] };
    default:
      return { sql: isPresent, values: [] };
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** Tests if a field has one of the values. Not exact for long integers, because the index stores the nearest double. */
function oneOf(expected: readonly Scalar[], caseSensitive: boolean, dialect: Dialect): FieldTest {
  const values = expected.map(comparable);
  const tests: SqlFragment[] = [];
  const texts = values.filter(({ kind }) => kind === 'string');
  if (texts.length > 0) {
    const heads = texts.map(({ head }) => head);
    const fullTexts = texts.map(({ exact, folded }) => (caseSensitive ? exact : folded));
    tests.push(
      allOf([
        { sql: isText, values: [] },
        isOneOf('f.head', heads, dialect.texts),
        isOneOf(textColumn(caseSensitive), fullTexts, dialect.texts),
      ]),
    );
  }
  for (const kind of ['number', 'boolean'] as const) {
    const numbers = values.flatMap((value) => (value.kind === kind && value.number !== null ? [value.number] : []));
    if (numbers.length === 0) continue;
    tests.push(allOf([{ sql: `f.kind = '${kind}'`, values: [] }, isOneOf('f.number', numbers, dialect.numbers)]));
  }
  return {
    sql: `(${tests.map(({ sql }) => sql).join(' OR ')})`,
    values: tests.flatMap((test) => test.values),
    isExact: !expected.some(isLong),
  };
}

function isOneOf(column: string, values: readonly (string | number)[], list: string): SqlFragment {
  if (values.length === 1) return { sql: `${column} = ?`, values };
  return { sql: `${column} IN (${list})`, values: [{ list: [...new Set(values)] }] };
}

/** Negates a test: the field is present, not null, and has another value or type. */
function negated({ sql, values, isExact }: FieldTest): FieldTest {
  if (isExact !== true) return { sql: isPresent, values: [], isExact: false };
  return { sql: `${isPresent} AND NOT ${sql}`, values };
}

function ordered(sign: string, value: string | number | bigint, caseSensitive: boolean): FieldTest {
  if (typeof value !== 'string') {
    const comparison = isLong(value) ? `${sign.slice(0, 1)}=` : sign;
    return { sql: `f.kind = 'number' AND f.number ${comparison} ?`, values: [Number(value)], isExact: !isLong(value) };
  }
  const sql = `${isText} AND ${textColumn(caseSensitive)} ${sign} ?`;
  return { sql, values: [comparableText(value, caseSensitive)] };
}

/** Tests if a text contains a part. `position` is the condition on the part's position, from 1. */
function hasPart(
  position: '= 1' | '> 0',
  { value, caseSensitive }: { readonly value: string; readonly caseSensitive: boolean },
  dialect: Dialect,
): SqlFragment {
  // The databases disagree about the position of an empty text.
  if (value === '') return { sql: isText, values: [] };
  return {
    sql: `${isText} AND ${dialect.position(textColumn(caseSensitive), '?')} ${position}`,
    values: [comparableText(value, caseSensitive)],
  };
}

/** Returns SQL for the text to compare. `exact` is stored only if it differs from `folded`. */
function textColumn(caseSensitive: boolean): string {
  return caseSensitive ? 'coalesce(f.exact, f.folded)' : 'f.folded';
}
