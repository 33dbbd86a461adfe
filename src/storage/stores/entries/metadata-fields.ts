import { createHash } from 'node:crypto';
import { isLong, parseExact } from '../../../base/exact-json.ts';
import type { Metadata } from '../../contracts/entries.ts';
import type { Scalar } from '../../contracts/entry-filter.ts';
import { storable } from '../../storable.ts';
import type { FieldIndex } from './indexed-fields.ts';

/**
 * One value of an entry's metadata as the databases keep it for filters: plain columns instead of JSON, so that both
 * compare alike, and a key is a bound value and never a part of a statement.
 */
export interface MetadataField {
  /** See `pathText`. */
  readonly path: string;
  readonly kind: FieldKind;
  /** 0 for the field itself; the members of an array that are no arrays or objects are counted from 1. */
  readonly member: number;
  /** The folded text, truncated to what an index may contain. Empty if it is not a text. */
  readonly head: string;
  /** Of an integer that `number` cannot hold exactly, what orders it among those that are the same double. */
  readonly folded: string;
  readonly exact: string;
  /** Of numbers and booleans. The nearest double. */
  readonly number: number | null;
}

export type FieldKind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** PostgreSQL refuses index rows of 2,704 bytes; this many characters take 400 at most. */
const headUnits = 100;

/** Longer paths are kept as their hash, because they too are in an index. */
const pathUnitsMax = 200;

/** A key may hold any character, dots too, so a path is not the keys joined by dots. */
export function pathText(keys: readonly string[]): string {
  const path = JSON.stringify(keys.map(storable));
  return path.length <= pathUnitsMax ? path : createHash('sha256').update(path).digest('hex');
}

/** As it was given: see exact-json. */
export function parseMetadata(json: string): Metadata {
  return parseExact(json) as Metadata;
}

/** The fields that the index holds. */
export function metadataFields(metadata: Metadata, index: FieldIndex): MetadataField[] {
  const fields: MetadataField[] = [];
  const add = (keys: readonly string[], value: unknown, members: boolean): void => {
    const path = pathText(keys);
    fields.push(field(path, 0, value));
    if (!members || !Array.isArray(value)) return;
    value.forEach((member: unknown, place) => {
      if (isScalar(member)) fields.push(field(path, place + 1, member));
    });
  };
  const visit = (keys: readonly string[], value: unknown): void => {
    add(keys, value, true);
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) visit([...keys, key], inner);
  };
  if (index.fields === '*') for (const [key, value] of Object.entries(metadata)) visit([key], value);
  else {
    for (const { path, kind } of index.fields) {
      const value = fieldAt(metadata, path);
      if (value === undefined) continue;
      if (kind === 'object') visit(path, value);
      else add(path, value, kind === 'array');
    }
  }
  // Two keys that differ only in what no database can keep become one, and a field may be named twice.
  return [...new Map(fields.map((each) => [`${each.path} ${each.member}`, each])).values()];
}

/** What lies at the end of the path, which leads through objects only. Undefined where nothing does. */
export function fieldAt(metadata: Metadata, path: readonly string[]): unknown {
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

/** How a value is compared with fields. */
export function comparable(value: Scalar): Pick<MetadataField, 'kind' | 'head' | 'folded' | 'exact' | 'number'> {
  const { kind, head, folded, exact, number } = field('', 0, value);
  return { kind, head, folded, exact, number };
}

/** Letters of either case are one. Not by position in a word, as the lower case of a capital sigma is. */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

function field(path: string, member: number, value: unknown): MetadataField {
  const exact = typeof value === 'string' ? storable(value) : '';
  const folded = isLong(value) ? orderedDigits(value) : foldCase(exact);
  const number = ['number', 'bigint', 'boolean'].includes(typeof value) ? Number(value) : null;
  return { path, kind: kindOf(value), member, head: headOf(folded), folded, exact, number };
}

/** Text that is ordered as the integers are. Of a negative one, more digits are less, and each digit the less the greater. */
function orderedDigits(value: number | bigint): string {
  const digits = String(BigInt(value)).replace('-', '');
  if (value >= 0) return `1${String(digits.length).padStart(3, '0')}${digits}`;
  return `0${999 - digits.length}${digits.replace(/\d/g, (digit) => String(9 - Number(digit)))}`;
}

export function headOf(folded: string): string {
  return folded.length <= headUnits ? folded : folded.slice(0, headUnits).toWellFormed();
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
