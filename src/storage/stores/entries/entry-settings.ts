import type { Dialect } from '../../dialect.ts';
import { textOf } from '../../statements.ts';
import { query, type Work } from './work.ts';

/** What the entries have in common: `indexed_fields`, a JSON list; `purged_to`, when the last purged entry was removed. */
export type SettingName = 'indexed_fields' | 'purged_to';

/** `share`: it stays as it is until the transaction ends. `update`: nobody else reads it to write by it until then. */
export function* readSetting(
  name: SettingName,
  lock: 'none' | 'share' | 'update',
  dialect: Dialect,
): Work<string | undefined> {
  const suffix = { none: '', share: dialect.forShare, update: dialect.forUpdate }[lock];
  const [row] = yield* query(`SELECT value FROM ${dialect.schema}context_settings WHERE name = ? ${suffix}`, name);
  return row === undefined ? undefined : textOf(row, 'value');
}

export function* writeSetting(name: SettingName, value: string, dialect: Dialect): Work<void> {
  yield* query(
    `INSERT INTO ${dialect.schema}context_settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ...[name, value],
  );
}
