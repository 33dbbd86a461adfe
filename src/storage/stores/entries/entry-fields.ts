import type { IndexFieldsOutcome, IndexFieldsRequest } from '../../contracts/entries.ts';
import type { Dialect } from '../../dialect.ts';
import { numberOf, textOf } from '../../statements.ts';
import { createEntryParts } from './entry-parts.ts';
import { writeSetting } from './entry-settings.ts';
import { createFieldIndex, type FieldIndex, readFieldNames } from './indexed-fields.ts';
import { query, type Work } from './work.ts';

export interface EntryFields {
  indexFields(request: IndexFieldsRequest): Work<IndexFieldsOutcome>;
}

/** Entries whose metadata is read at once. */
const chunkRows = 1_000;

export function createEntryFields(dialect: Dialect): EntryFields {
  const entries = `${dialect.schema}context_entries`;
  const fields = `${dialect.schema}context_fields`;
  const parts = createEntryParts(dialect);
  return {
    *indexFields({ fields: given, mode }) {
      const wanted = [...new Set(given)];
      const held = yield* readFieldNames('update', dialect);
      const missing = wanted.filter((name) => !held.includes(name));
      const extra = held.filter((name) => !wanted.includes(name));
      if (missing.length === 0 && (extra.length === 0 || mode === 'additive')) return { missing, extra };
      const [any] = yield* query(`SELECT key FROM ${entries} WHERE metadata IS NOT NULL LIMIT 1`);
      if (any !== undefined && (mode === 'strict' || mode === 'warn')) return { missing, extra };
      const keeps = any !== undefined && mode === 'additive';
      const names = keeps ? [...held, ...missing] : wanted;
      yield* writeSetting('indexed_fields', JSON.stringify(names), dialect);
      if (any !== undefined) yield* fill(createFieldIndex(names), !keeps);
      return { missing: [], extra: keeps ? extra : [] };
    },
  };

  function* fill(index: FieldIndex, anew: boolean): Work<void> {
    for (let after = 0; ; ) {
      const rows = yield* query(
        `SELECT key, metadata FROM ${entries} WHERE metadata IS NOT NULL AND key > ? ORDER BY key LIMIT ?`,
        ...[after, chunkRows],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      after = numberOf(last, 'key');
      const keys = { list: rows.map((row) => numberOf(row, 'key')) };
      if (anew) yield* query(`DELETE FROM ${fields} WHERE entry IN (${dialect.integers})`, keys);
      yield* parts.addFields(
        rows.map((row) => ({ entry: numberOf(row, 'key'), metadata: JSON.parse(textOf(row, 'metadata')) })),
        index,
      );
    }
  }
}
