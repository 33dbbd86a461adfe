import type { Statements } from './dialect.ts';
import { textOf } from './rows.ts';

/**
 * `indexed_fields`: of metadata, a JSON list. `purged_to`: when the last purged entry was removed. `word_analysis`: by which
 * analysis and in which language all terms were made.
 */
type SettingName = 'indexed_fields' | 'purged_to' | 'word_analysis';

/** `lock`: `forShare` keeps the value until the transaction ends, `forUpdate` excludes those who do the same. */
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
