import type { Statements } from '../dialect.ts';
import { numberOf } from '../rows.ts';
import { readSetting, writeSetting } from '../statements.ts';
import { metadataOf } from './entry.ts';
import { insertFields, runAll } from './entry-parts.ts';
import { createFieldIndex, type FieldIndex } from './field-index.ts';

/** Reads the names of the indexed fields. For `lock`, see `readSetting`. */
export async function readFieldNames(on: Statements, lock = ''): Promise<string[]> {
  return JSON.parse((await readSetting(on, 'indexed_fields', lock)) ?? '[]');
}

/** Entries read per query. */
const batchRows = 1_000;

export const indexModes = ['strict', 'auto', 'warn', 'additive'] as const;

export interface IndexFieldsRequest {
  /** Names as `parseIndexedField` accepts them. */
  readonly fields: readonly string[];
  /**
   * What to do if other fields are indexed: nothing (`strict`, `warn`), add and remove fields (`auto`), or only add fields
   * (`additive`). If no entry has metadata, the requested fields are always set.
   */
  readonly mode: (typeof indexModes)[number];
}

/** Changes which metadata fields are indexed, if the mode allows it. Returns the remaining differences. */
export async function indexFields(
  on: Statements,
  { fields, mode }: IndexFieldsRequest,
): Promise<{ missing: string[]; extra: string[] }> {
  const requested = [...new Set(fields)];
  const indexed = await readFieldNames(on, on.dialect.forUpdate);
  const missing = requested.filter((name) => !indexed.includes(name));
  const extra = indexed.filter((name) => !requested.includes(name));
  if (missing.length === 0 && (extra.length === 0 || mode === 'additive')) return { missing, extra };
  const [any] = await on.query('SELECT key FROM context_entries WHERE metadata IS NOT NULL LIMIT 1');
  if (any !== undefined && (mode === 'strict' || mode === 'warn')) return { missing, extra };
  const isAdditive = any !== undefined && mode === 'additive';
  const names = isAdditive ? [...indexed, ...missing] : requested;
  await writeSetting(on, 'indexed_fields', JSON.stringify(names));
  if (any !== undefined) await fillIndex(on, createFieldIndex(names), !isAdditive);
  return { missing: [], extra: isAdditive ? extra : [] };
}

/** Indexes the metadata of all entries. With `replaces`, deletes the old index rows. */
async function fillIndex(on: Statements, index: FieldIndex, replaces: boolean): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await on.query(
      `SELECT key, metadata FROM context_entries WHERE metadata IS NOT NULL AND key > ? ORDER BY key LIMIT ?`,
      [after, batchRows],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = numberOf(last, 'key');
    const keys = { list: rows.map((row) => numberOf(row, 'key')) };
    if (replaces) await on.query(`DELETE FROM context_fields WHERE entry IN (${on.dialect.integers})`, [keys]);
    const entries = rows.map((row) => ({ id: numberOf(row, 'key'), metadata: metadataOf(row) }));
    await runAll(on, insertFields(on, entries, index));
  }
}
