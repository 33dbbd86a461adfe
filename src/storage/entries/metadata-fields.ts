import { createHash } from 'node:crypto';
import { storable } from '../notes.ts';
import type { Scalar } from './entry-filter.ts';

/**
 * One value of an entry's metadata as the databases keep it for filters: plain columns instead of JSON, so that both
 * compare alike, every field is indexed, and a key is a bound value and never a part of a statement.
 */
export interface MetadataField {
  /** See `pathText`. */
  readonly path: string;
  readonly kind: FieldKind;
  /** 0 for the field itself; the members of an array that are no arrays or objects are counted from 1. */
  readonly member: number;
  /** The folded text cut to what an index may hold. Empty for what is no text. */
  readonly head: string;
  readonly folded: string;
  readonly exact: string;
  /** Of numbers and booleans. */
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

export function metadataFields(metadata: Readonly<Record<string, unknown>>): MetadataField[] {
  const fields: MetadataField[] = [];
  const visit = (keys: readonly string[], value: unknown): void => {
    const path = pathText(keys);
    fields.push(field(path, 0, value));
    if (Array.isArray(value)) {
      value.forEach((member: unknown, index) => {
        if (isScalar(member)) fields.push(field(path, index + 1, member));
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit([...keys, key], inner);
    }
  };
  for (const [key, value] of Object.entries(metadata)) visit([key], value);
  // Two keys that differ only in what no database can keep become one.
  return [...new Map(fields.map((each) => [`${each.path} ${each.member}`, each])).values()];
}

/** How a value is compared with fields. */
export function comparable(value: Scalar): Pick<MetadataField, 'kind' | 'head' | 'folded' | 'exact' | 'number'> {
  const { kind, head, folded, exact, number } = field('', 0, value);
  return { kind, head, folded, exact, number };
}

/** Letters of either case are one. Not by position in a word, as the lower case of a capital sigma is. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

function field(path: string, member: number, value: unknown): MetadataField {
  const exact = typeof value === 'string' ? storable(value) : '';
  const folded = foldCase(exact);
  const number = typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : null;
  return { path, kind: kindOf(value), member, head: headOf(folded), folded, exact, number };
}

export function headOf(folded: string): string {
  return folded.length <= headUnits ? folded : folded.slice(0, headUnits).toWellFormed();
}

function kindOf(value: unknown): FieldKind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const kind = typeof value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'object';
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
