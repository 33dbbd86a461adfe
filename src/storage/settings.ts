import type { Statements } from './dialect.ts';
import { textOf } from './rows.ts';

/**
 * `indexed_fields`: the metadata fields that are indexed, as a JSON list. `purged_to`: the latest time of removal of any purged
 * entry. `word_analysis`: version and language of the analysis that made all stored terms.
 */
type SettingName = 'indexed_fields' | 'purged_to' | 'word_analysis';

/**
 * Reads a setting. `lock` is `forShare` or `forUpdate` of the dialect: both keep the value unchanged until the transaction
 * ends, and `forUpdate` also blocks other transactions that lock it.
 */
export async function readSetting(on: Statements, name: SettingName, lock = ''): Promise<string | undefined> {
  const [row] = await on.query(`SELECT value FROM settings WHERE name = ? ${lock}`, [name]);
  return row === undefined ? undefined : textOf(row, 'value');
}

export async function writeSetting(on: Statements, name: SettingName, value: string): Promise<void> {
  await on.query(
    `INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  );
}
