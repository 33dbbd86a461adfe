import { storable } from '../storable.ts';

/** The metadata fields that are indexed. Filters on other fields read the metadata itself. */
export interface FieldIndex {
  /** `*` means every field, at any depth. */
  readonly fields: readonly IndexedField[] | '*';
  has(path: readonly string[]): boolean;
}

export interface IndexedField {
  readonly path: readonly string[];
  /** True if all fields inside this one are indexed too. */
  readonly isObject: boolean;
}

/** Types that a field can be declared with. The index stores the type of each value anyway, so only `object` makes a difference. */
export const fieldTypes = ['string', 'integer', 'boolean', 'float', 'array', 'object'] as const;

/** Parses `name` or `name:type`. Dots in the name separate the keys of nested objects. Returns undefined for any other text. */
export function parseIndexedField(text: string): IndexedField | '*' | undefined {
  if (text === '*') return '*';
  const [, name = '', type = 'string'] = /^([\p{L}\p{M}\p{N}_.-]{1,200})(?::(\w+))?$/u.exec(text) ?? [];
  const fieldType = fieldTypes.find((each) => each === type);
  if (name === '' || fieldType === undefined) return undefined;
  return { path: name.split('.'), isObject: fieldType === 'object' };
}

export function createFieldIndex(names: readonly string[]): FieldIndex {
  const parsed = names.flatMap((name) => parseIndexedField(name) ?? []);
  const fields = parsed.flatMap((field) => (field === '*' ? [] : [field]));
  if (parsed.includes('*')) return { fields: '*', has: () => true };
  return {
    fields,
    has: (path) =>
      fields.some(
        (field) =>
          (field.isObject || field.path.length === path.length) &&
          field.path.every((key, index) => key === storable(path[index] ?? '')),
      ),
  };
}
