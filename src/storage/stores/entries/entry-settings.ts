import { type Statements, textOf } from '../../statements.ts';

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
  const [row] = await on.query(`SELECT value FROM ${on.dialect.schema}context_settings WHERE name = ? ${suffix}`, [
    name,
  ]);
  return row === undefined ? undefined : textOf(row, 'value');
}

export async function writeSetting(on: Statements, name: SettingName, value: string): Promise<void> {
  await on.query(
    `INSERT INTO ${on.dialect.schema}context_settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE
      SET value = excluded.value`,
    [name, value],
  );
}
