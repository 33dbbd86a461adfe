import { createHash } from 'node:crypto';
import { compareNumbers } from '../../base/exact-json.ts';
import { storable } from '../storable.ts';
import type { Metadata } from './entry.ts';
import type { MetadataCondition, Scalar } from './entry-filter.ts';
import type { FieldIndex } from './field-index.ts';

/**
 * One metadata value as stored for filters: plain columns instead of JSON, so that both databases compare alike, and a key is a
 * bound value, never part of a statement.
 */
export interface MetadataField {
  /** See `pathText`. */
  readonly path: string;
  readonly kind: FieldKind;
  /** 0 for the field itself; scalar members of an array count from 1. */
  readonly member: number;
  /** The folded text, truncated to what an index may contain. Empty if it is not text. */
  readonly head: string;
  readonly folded: string;
  readonly exact: string;
  /** For numbers and booleans: the nearest double. */
  readonly number: number | null;
}

export type FieldKind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** PostgreSQL rejects index rows of 2,704 bytes; this many characters take at most 400. */
const headUnits = 100;

/** Longer paths are stored as their hash, because they are indexed too. */
const pathUnitsMax = 200;

/** A key may contain any character, dots included, so keys cannot simply be joined by dots. */
export function pathText(keys: readonly string[]): string {
  const path = JSON.stringify(keys.map(storable));
  return path.length <= pathUnitsMax ? path : createHash('sha256').update(path).digest('hex');
}

/** The indexed fields. */
export function metadataFields(metadata: Metadata, index: FieldIndex): MetadataField[] {
  const fields: MetadataField[] = [];
  const add = (keys: readonly string[], value: unknown): void => {
    const path = pathText(keys);
    fields.push({ path, member: 0, ...comparable(value) });
    if (!Array.isArray(value)) return;
    value.forEach((member: unknown, place) => {
      if (isScalar(member)) fields.push({ path, member: place + 1, ...comparable(member) });
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
  // Keys that differ only in unstorable characters become one, and a field may be named twice.
  return [...new Map(fields.map((each) => [`${each.path} ${each.member}`, each])).values()];
}

/** The value at the end of the path, which passes through objects only. */
function fieldAt(metadata: Metadata, path: readonly string[]): unknown {
  let at: unknown = metadata;
  for (const key of path) {
    if (!isObject(at)) return undefined;
    const wanted = storable(key);
    at = Object.hasOwn(at, wanted)
      ? at[wanted]
      : Object.entries(at).findLast(([name]) => storable(name) === wanted)?.[1];
  }
  return at;
}

/** RFC 7396 §2: nulls remove keys, objects are merged, everything else replaces. */
export function mergePatch(target: Metadata, patch: Metadata): Metadata {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isObject(value)) {
      const known = merged.get(key);
      merged.set(key, mergePatch(isObject(known) ? known : {}, value));
    } else merged.set(key, value);
  }
  // Not by assignment: a key named __proto__ is an ordinary key.
  return Object.fromEntries(merged);
}

/** Tests metadata in memory: for conditions that SQL cannot decide, and for past metadata. */
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
      // In an array, one of its texts must match.
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
  return comparableText(value, caseSensitive) === comparableText(wanted, caseSensitive);
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
  const text = comparableText(value, caseSensitive);
  const part = comparableText(wanted, caseSensitive);
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
    // UTF-8 byte order is code point order, as the databases compare.
    order = Buffer.compare(
      Buffer.from(comparableText(value, caseSensitive)),
      Buffer.from(comparableText(wanted, caseSensitive)),
    );
  } else return false;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** How a value is compared with fields. */
export function comparable(value: unknown): Omit<MetadataField, 'path' | 'member'> {
  const exact = typeof value === 'string' ? storable(value) : '';
  const folded = foldCase(exact);
  const head = folded.length <= headUnits ? folded : folded.slice(0, headUnits).toWellFormed();
  const number = ['number', 'bigint', 'boolean'].includes(typeof value) ? Number(value) : null;
  return { kind: kindOf(value), head, folded, exact, number };
}

/** How a text is compared. */
export function comparableText(text: string, caseSensitive: boolean): string {
  return caseSensitive ? storable(text) : foldCase(storable(text));
}

/** Lower-cases, with one form of sigma: JavaScript would use another at the end of a word. */
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

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}
