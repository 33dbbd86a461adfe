import type { IndexFieldsOutcome, IndexFieldsRequest } from '../../contracts/entries.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, textOf } from '../../rows.ts';
import { addFields } from './entry-parts.ts';
import { createFieldIndex, type FieldIndex, readFieldNames, writeSetting } from './indexed-fields.ts';
import { parseMetadata } from './metadata-fields.ts';

/** Entries whose metadata is read at once. */
const chunkRows = 1_000;

export async function indexFields(
  on: Statements,
  { fields: given, mode }: IndexFieldsRequest,
): Promise<IndexFieldsOutcome> {
  const wanted = [...new Set(given)];
  const held = await readFieldNames(on, 'update');
  const missing = wanted.filter((name) => !held.includes(name));
  const extra = held.filter((name) => !wanted.includes(name));
  if (missing.length === 0 && (extra.length === 0 || mode === 'additive')) return { missing, extra };
  const [any] = await on.query(
    `SELECT key FROM ${on.dialect.schema}context_entries WHERE metadata IS NOT NULL LIMIT 1`,
  );
  if (any !== undefined && (mode === 'strict' || mode === 'warn')) return { missing, extra };
  const keeps = any !== undefined && mode === 'additive';
  const names = keeps ? [...held, ...missing] : wanted;
  await writeSetting(on, 'indexed_fields', JSON.stringify(names));
  if (any !== undefined) await fill(on, createFieldIndex(names), !keeps);
  return { missing: [], extra: keeps ? extra : [] };
}

async function fill(on: Statements, index: FieldIndex, anew: boolean): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await on.query(
      `SELECT key, metadata FROM ${on.dialect.schema}context_entries WHERE metadata IS NOT NULL AND key > ?
        ORDER BY key LIMIT ?`,
      [after, chunkRows],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = numberOf(last, 'key');
    const keys = { list: rows.map((row) => numberOf(row, 'key')) };
    if (anew)
      await on.query(`DELETE FROM ${on.dialect.schema}context_fields WHERE entry IN (${on.dialect.integers})`, [keys]);
    await addFields(
      on,
      rows.map((row) => ({ entry: numberOf(row, 'key'), metadata: parseMetadata(textOf(row, 'metadata')) })),
      index,
    );
  }
}
