import { compareNumbers, isLong } from '../../../base/exact-json.ts';
import type { Metadata } from '../../contracts/entries.ts';
import type { MetadataCondition, Scalar } from '../../contracts/entry-filter.ts';
import type { Dialect } from '../../dialect.ts';
import type { Condition } from '../../rows.ts';
import { comparable, fieldAt } from './metadata-fields.ts';

/** Whether the conditions hold for metadata that is at hand: what the statements of filter-condition ask of the index. */
export function matchesMetadata(metadata: Metadata, conditions: readonly MetadataCondition[]): boolean {
  return conditions.every((condition) => matches(fieldAt(metadata, condition.path), condition));
}

function matches(value: unknown, condition: MetadataCondition): boolean {
  const present = value !== undefined && value !== null;
  switch (condition.operator) {
    case 'exists':
    case 'is_not_null':
      return present;
    case 'not_exists':
      return !present;
    case 'is_null':
      return value === null;
    case 'eq':
      return isEqual(value, condition.value, condition.caseSensitive);
    case 'ne':
      return present && !isEqual(value, condition.value, condition.caseSensitive);
    case 'in':
      return condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'not_in':
      return present && !condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'array_contains':
      return Array.isArray(value) && value.some((each) => isEqual(each, condition.value, condition.caseSensitive));
    case 'contains':
      // In an array, a text of it must.
      return (Array.isArray(value) ? value : [value]).some((each) => hasPart(each, condition));
    case 'starts_with':
    case 'ends_with':
      return hasPart(value, condition);
    default:
      return isOrdered(value, condition);
  }
}

function isEqual(value: unknown, wanted: Scalar, caseSensitive: boolean): boolean {
  if (isNumber(value) && isNumber(wanted)) return compareNumbers(value, wanted) === 0;
  if (typeof value !== typeof wanted) return false;
  if (typeof value !== 'string' || typeof wanted !== 'string') return value === wanted;
  return textOf(value, caseSensitive) === textOf(wanted, caseSensitive);
}

function hasPart(
  value: unknown,
  {
    operator,
    value: wanted,
    caseSensitive,
  }: Extract<MetadataCondition, { operator: 'contains' | 'starts_with' | 'ends_with' }>,
): boolean {
  if (typeof value !== 'string') return false;
  const text = textOf(value, caseSensitive);
  const part = textOf(wanted, caseSensitive);
  if (operator === 'contains') return text.includes(part);
  return operator === 'starts_with' ? text.startsWith(part) : text.endsWith(part);
}

function isOrdered(
  value: unknown,
  { operator, value: wanted, caseSensitive }: Extract<MetadataCondition, { operator: 'gt' | 'gte' | 'lt' | 'lte' }>,
): boolean {
  let order: number;
  if (isNumber(value) && isNumber(wanted)) order = compareNumbers(value, wanted);
  else if (typeof value === 'string' && typeof wanted === 'string') {
    // As UTF-8 the order of bytes is that of code points, which is how the databases compare.
    order = Buffer.compare(Buffer.from(textOf(value, caseSensitive)), Buffer.from(textOf(wanted, caseSensitive)));
  } else return false;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function textOf(text: string, caseSensitive: boolean): string {
  const { exact, folded } = comparable(text);
  return caseSensitive ? exact : folded;
}

/**
 * What must be so of the metadata of an entry `o`, as the JSON that we wrote, for the condition to hold: fewer entries have
 * to be read and tested. Nothing where nothing can be told.
 */
export function necessaryOf(condition: MetadataCondition, dialect: Dialect): Condition[] {
  const key = condition.path.at(-1) ?? '';
  // Other characters may be written in several ways.
  if (condition.operator === 'not_exists' || !/^[\x20-\x7e]+$/.test(key)) return [];
  const text = `${JSON.stringify(key)}:${beginningOf(condition)}`;
  return [{ sql: `${dialect.position('o.metadata', '?')} > 0`, values: [text] }, ...orderOf(condition, dialect)];
}

function orderOf({ path, ...condition }: MetadataCondition, dialect: Dialect): Condition[] {
  if (!('value' in condition) || typeof condition.value !== 'number' || isLong(condition.value)) return [];
  const sign = signs[condition.operator];
  if (sign === undefined || !path.every((key) => /^[\w-]+$/.test(key))) return [];
  const sql = dialect.orderedInJson('o.metadata', sign);
  return [{ sql, values: [dialect.jsonPath(path), condition.value] }];
}

const signs: Partial<Record<MetadataCondition['operator'], '<' | '<=' | '>' | '>='>> = {
  ...({ gt: '>', gte: '>=', lt: '<', lte: '<=' } as const),
};

/** A colon of ours is followed by the value at once. */
function beginningOf(condition: MetadataCondition): string {
  switch (condition.operator) {
    case 'is_null':
      return 'null';
    case 'array_contains':
      return '[';
    case 'starts_with':
    case 'ends_with':
      return '"';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof condition.value === 'string' ? '"' : '';
    case 'eq':
      // It may be written with an exponent.
      if (isLong(condition.value)) return '';
      if (typeof condition.value !== 'string') return JSON.stringify(condition.value);
      return condition.caseSensitive && /^[\x20-\x7e]*$/.test(condition.value) ? JSON.stringify(condition.value) : '"';
    default:
      return '';
  }
}
