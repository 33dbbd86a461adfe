import type { Statements } from '../dialect.ts';
import { numberOf } from '../rows.ts';
import { readSetting, writeSetting } from '../statements.ts';
import { metadataOf } from './entry.ts';
import { fieldInserts, runAll } from './entry-parts.ts';
import { createFieldIndex, type FieldIndex } from './field-index.ts';

/** Reads the names of the indexed fields. For `lock`, see `readSetting`. */
export async function readFieldNames(db: Statements, lock = ''): Promise<string[]> {
  return JSON.parse((await readSetting(db, 'indexed_fields', lock)) ?? '[]');
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
  db: Statements,
  { fields, mode }: IndexFieldsRequest,
): Promise<{ missing: string[]; extra: string[] }> {
  const requested = [...new Set(fields)];
  const indexed = await readFieldNames(db, db.dialect.forUpdate);
  const missing = requested.filter((name) => !indexed.includes(name));
  const extra = indexed.filter((name) => !requested.includes(name));
  if (missing.length === 0 && (extra.length === 0 || mode === 'additive')) return { missing, extra };
  const [stored] = await db.query('SELECT key FROM context_entries WHERE metadata IS NOT NULL LIMIT 1');
  if (stored !== undefined && (mode === 'strict' || mode === 'warn')) return { missing, extra };
  const isAdditive = stored !== undefined && mode === 'additive';
  const names = isAdditive ? [...indexed, ...missing] : requested;
  await writeSetting(db, 'indexed_fields', JSON.stringify(names));
  if (stored !== undefined) await fillIndex(db, createFieldIndex(names), !isAdditive);
  return { missing: [], extra: isAdditive ? extra : [] };
}

/** Indexes the metadata of all entries. With `replaces`, deletes the old index rows. */
async function fillIndex(db: Statements, index: FieldIndex, replaces: boolean): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await db.query(
      `SELECT key, metadata FROM context_entries WHERE metadata IS NOT NULL AND key > ? ORDER BY key LIMIT ?`,
      [after, batchRows],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = numberOf(last, 'key');
    const keys = { list: rows.map((row) => numberOf(row, 'key')) };
    if (replaces) await db.query(`DELETE FROM context_fields WHERE entry IN (${db.dialect.integers})`, [keys]);
    const entries = rows.map((row) => ({ id: numberOf(row, 'key'), metadata: metadataOf(row) }));
    await runAll(db, fieldInserts(db, entries, index));
  }
}
