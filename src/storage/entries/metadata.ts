import { createHash } from 'node:crypto';
import { compareNumbers } from '../../base/exact-json.ts';
import { isObject } from '../../base/json.ts';
import { storable } from '../storable.ts';
import type { Metadata, MetadataCondition, Scalar } from './entry.ts';
import type { FieldIndex } from './field-index.ts';

/** One metadata value, as stored for filters. It is stored in columns, not as JSON, so that both databases compare values alike. */
export interface MetadataField {
  /** See `pathText`. */
  readonly path: string;
  readonly kind: FieldKind;
  /** 0 for the field itself. If it is an array, its scalar members are numbered from 1. */
  readonly member: number;
  /** The start of `folded`, as much as an index can contain. Empty if the value is not a text. */
  readonly head: string;
  readonly folded: string;
  readonly exact: string;
  /** The value of a number or boolean, as the nearest double. */
  readonly number: number | null;
}

export type FieldKind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** Length of `head` in UTF-16 code units: at most 400 bytes. PostgreSQL rejects index rows of more than 2,704 bytes. */
const headUnits = 100;

/** Max length of a path in UTF-16 code units. Longer paths are stored as their hash, because paths are indexed too. */
const pathUnitsMax = 200;

/** Returns the stored form of a path. A key may contain any character, so keys cannot simply be joined by dots. */
export function pathText(keys: readonly string[]): string {
  const path = JSON.stringify(keys.map(storable));
  return path.length <= pathUnitsMax ? path : createHash('sha256').update(path).digest('hex');
}

/** Returns the indexed fields of an entry's metadata. */
export function metadataFields(metadata: Metadata, index: FieldIndex): MetadataField[] {
  const fields: MetadataField[] = [];
  const add = (keys: readonly string[], value: unknown): void => {
    const path = pathText(keys);
    fields.push({ path, member: 0, ...comparable(value) });
    if (!Array.isArray(value)) return;
    value.forEach((member: unknown, index) => {
      if (isScalar(member)) fields.push({ path, member: index + 1, ...comparable(member) });
    });
  };
  const visit = (keys: readonly string[], value: unknown): void => {
    add(keys, value);
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) visit([...keys, key], inner);
  };
  if (index.fields === '*') for (const [key, value] of Object.entries(metadata)) visit([key], value);
  else {
    for (const { path, isObject: isDeep } of index.fields) {
      const value = fieldAt(metadata, path);
      if (value === undefined) continue;
      if (isDeep) visit(path, value);
      else add(path, value);
    }
  }
  // Removes duplicates: keys may differ only in characters that can't be stored, and a field may be listed twice.
  return [...new Map(fields.map((each) => [`${each.path} ${each.member}`, each])).values()];
}

/** Returns the value at the end of the path. The path leads through objects only, not into arrays. */
function fieldAt(metadata: Metadata, path: readonly string[]): unknown {
  let at: unknown = metadata;
  for (const key of path) {
    if (!isObject(at)) return undefined;
    const storedKey = storable(key);
    at = Object.hasOwn(at, storedKey)
      ? at[storedKey]
      : Object.entries(at).findLast(([name]) => storable(name) === storedKey)?.[1];
  }
  return at;
}

/** Applies a merge patch (RFC 7396 §2): null removes a key, objects are merged, and any other value replaces. */
export function mergePatch(target: Metadata, patch: Metadata): Metadata {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isObject(value)) {
      const current = merged.get(key);
      merged.set(key, mergePatch(isObject(current) ? current : {}, value));
    } else merged.set(key, value);
  }
  // Assigning each key instead would fail for a key named __proto__, which is an ordinary key here.
  return Object.fromEntries(merged);
}

/** Tests metadata in memory. Used for conditions that SQL cannot decide, and for past metadata. */
export function matchesMetadata(metadata: Metadata, conditions: readonly MetadataCondition[]): boolean {
  return conditions.every((condition) => matches(fieldAt(metadata, condition.path), condition));
}

function matches(value: unknown, condition: MetadataCondition): boolean {
  const isPresent = value !== undefined && value !== null;
  switch (condition.operator) {
    case 'exists':
    case 'is_not_null':
      return isPresent;
    case 'not_exists':
      return !isPresent;
    case 'is_null':
      return value === null;
    case 'eq':
      return isEqual(value, condition.value, condition.caseSensitive);
    case 'ne':
      return isPresent && !isEqual(value, condition.value, condition.caseSensitive);
    case 'in':
      return condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'not_in':
      return isPresent && !condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'array_contains':
      return Array.isArray(value) && value.some((each) => isEqual(each, condition.value, condition.caseSensitive));
    case 'contains':
      // In an array, at least one text must match.
      return (Array.isArray(value) ? value : [value]).some((each) => hasPart(each, condition));
    case 'starts_with':
    case 'ends_with':
      return hasPart(value, condition);
    default:
      return isOrdered(value, condition);
  }
}

function isEqual(value: unknown, expected: Scalar, caseSensitive: boolean): boolean {
  if (isNumber(value) && isNumber(expected)) return compareNumbers(value, expected) === 0;
  if (typeof value !== typeof expected) return false;
  if (typeof value !== 'string' || typeof expected !== 'string') return value === expected;
  return comparableText(value, caseSensitive) === comparableText(expected, caseSensitive);
}

function hasPart(
  value: unknown,
  {
    operator,
    value: expected,
    caseSensitive,
  }: Extract<MetadataCondition, { operator: 'contains' | 'starts_with' | 'ends_with' }>,
): boolean {
  if (typeof value !== 'string') return false;
  const text = comparableText(value, caseSensitive);
  const part = comparableText(expected, caseSensitive);
  if (operator === 'contains') return text.includes(part);
  return operator === 'starts_with' ? text.startsWith(part) : text.endsWith(part);
}

function isOrdered(
  value: unknown,
  { operator, value: expected, caseSensitive }: Extract<MetadataCondition, { operator: 'gt' | 'gte' | 'lt' | 'lte' }>,
): boolean {
  let order: number;
  if (isNumber(value) && isNumber(expected)) order = compareNumbers(value, expected);
  else if (typeof value === 'string' && typeof expected === 'string') {
    // Compares bytes of UTF-8. This gives code point order, as in the databases.
    order = Buffer.compare(
      Buffer.from(comparableText(value, caseSensitive)),
      Buffer.from(comparableText(expected, caseSensitive)),
    );
  } else return false;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Returns the columns by which a value is compared. */
export function comparable(value: unknown): Omit<MetadataField, 'path' | 'member'> {
  const exact = typeof value === 'string' ? storable(value) : '';
  const folded = foldCase(exact);
  const head = folded.length <= headUnits ? folded : folded.slice(0, headUnits).toWellFormed();
  const number = ['number', 'bigint', 'boolean'].includes(typeof value) ? Number(value) : null;
  return { kind: kindOf(value), head, folded, exact, number };
}

/** Returns the form of a text in which it is compared. */
export function comparableText(text: string, caseSensitive: boolean): string {
  return caseSensitive ? storable(text) : foldCase(storable(text));
}

/** Converts text to lower case. Replaces the final form of sigma, which JavaScript uses at the end of a word. */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

function kindOf(value: unknown): FieldKind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const kind = typeof value;
  if (kind === 'bigint') return 'number';
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'object';
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}
