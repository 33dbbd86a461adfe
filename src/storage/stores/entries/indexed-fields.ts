import type { MetadataCondition } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';

/** The fields of metadata that have rows in the index. Filters on all others read the metadata itself. */
export interface FieldIndex {
  /** `*`: every field, however deep. */
  readonly fields: readonly IndexedField[] | '*';
  /** The index knows of every entry whether the condition holds; `unless-array`: of those that have no array there. */
  covers(condition: MetadataCondition): boolean | 'unless-array';
}

export interface IndexedField {
  readonly path: readonly string[];
  /** An array is indexed with its members, an object with everything below it, everything else by itself. */
  readonly kind: 'value' | 'array' | 'object';
}

/** What a field may be declared to hold. Values of every type are told apart, so only the last two change the index. */
export const fieldTypes = ['string', 'integer', 'boolean', 'float', 'array', 'object'] as const;

/** `name`, or `name:type`; dots in the name lead into objects. Undefined for what is neither. */
export function parseIndexedField(text: string): IndexedField | '*' | undefined {
  if (text === '*') return '*';
  const [, name = '', type = 'string'] = /^([\p{L}\p{M}\p{N}_.-]{1,200})(?::(\w+))?$/u.exec(text) ?? [];
  const known = fieldTypes.find((each) => each === type);
  if (name === '' || known === undefined) return undefined;
  return { path: name.split('.'), kind: known === 'array' || known === 'object' ? known : 'value' };
}

export function createFieldIndex(names: readonly string[]): FieldIndex {
  const parsed = names.flatMap((name) => parseIndexedField(name) ?? []);
  const fields = parsed.flatMap((field) => (field === '*' ? [] : [field]));
  if (parsed.includes('*')) return { fields: '*', covers: () => true };
  return {
    fields,
    covers: ({ path, operator }) => {
      const above = fields.filter((field) => field.path.every((key, place) => key === storable(path[place] ?? '')));
      if (above.some(({ kind }) => kind === 'object')) return true;
      const own = above.filter((field) => field.path.length === path.length);
      if (own.length === 0 || own.some(({ kind }) => kind === 'array')) return own.length > 0;
      return operator === 'contains' ? 'unless-array' : operator !== 'array_contains';
    },
  };
}

/** See entry-settings for the locks. */
export async function readFieldNames(on: Statements, lock: 'none' | 'share' | 'update'): Promise<string[]> {
  return JSON.parse((await readSetting(on, 'indexed_fields', lock)) ?? '[]');
}

/** What the entries have in common: `indexed_fields`, a JSON list; `purged_to`,
  when the last purged entry was removed. */
export type SettingName = 'indexed_fields' | 'purged_to';

/** `share`: it stays as it is until the transaction ends. `update`: nobody else reads it to write by it until then. */
export async function readSetting(
  on: Statements,
  name: SettingName,
  lock: 'none' | 'share' | 'update',
): Promise<string | undefined> {
  const suffix = { none: '', share: on.dialect.forShare, update: on.dialect.forUpdate }[lock];
  const [row] = await on.query(
    `SELECT value FROM ${on.dialect.schema}context_settings WHERE name = ? ${suffix}`,
    [name],
    lock === 'none' ? 'steady' : undefined,
  );
  return row === undefined ? undefined : textOf(row, 'value');
}

export async function writeSetting(on: Statements, name: SettingName, value: string): Promise<void> {
  await on.query(
    `INSERT INTO ${on.dialect.schema}context_settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE
      SET value = excluded.value`,
    [name, value],
  );
}
