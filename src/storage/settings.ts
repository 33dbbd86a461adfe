import type { Statements } from './dialect.ts';
import { textOf } from './rows.ts';

/**
 * `indexed_fields`: metadata fields, a JSON list. `purged_to`: when the last purged entry was removed. `word_analysis`: the
 * analysis and language of all terms.
 */
type SettingName = 'indexed_fields' | 'purged_to' | 'word_analysis';

/** `lock`: `forShare` keeps the value until the transaction ends, `forUpdate` also excludes others with a lock. */
export async function readSetting(on: Statements, name: SettingName, lock = ''): Promise<string | undefined> {
  const [row] = await on.query(`SELECT value FROM ${on.dialect.schema}settings WHERE name = ? ${lock}`, [name]);
  return row === undefined ? undefined : textOf(row, 'value');
}

export async function writeSetting(on: Statements, name: SettingName, value: string): Promise<void> {
  await on.query(
    `INSERT INTO ${on.dialect.schema}settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE
      SET value = excluded.value`,
    [name, value],
  );
}
