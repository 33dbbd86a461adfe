import type { EntryText, TextsBeforeRequest } from '../../contracts/entries.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, textOf } from '../../rows.ts';
import { allOf, amongThreads } from './filter-condition.ts';

/** A column of the entry before `o` in its thread. */
export function ofEntryBefore(column: string, schema: string): string {
  return `(SELECT p.${column} FROM ${schema}context_entries p WHERE p.thread_id = o.thread_id AND p.key < o.key
    AND p.deleted_at IS NULL ORDER BY p.key DESC LIMIT 1)`;
}

export async function textsBefore(on: Statements, request: TextsBeforeRequest): Promise<EntryText[]> {
  const { schema, integers } = on.dialect;
  const { ids, charsMax } = request;
  const { sql, values } = allOf([
    { sql: `o.key IN (${integers})`, values: [{ list: ids }] },
    { sql: 'length(o.text_content) <= ? AND length(b.text_content) <= ?', values: [charsMax, charsMax] },
    ...amongThreads(request, on.dialect),
  ]);
  const rows = await on.query(
    `SELECT o.key, b.text_content FROM ${schema}context_entries o
       JOIN ${schema}context_entries b ON b.key = ${ofEntryBefore('key', schema)} WHERE ${sql}`,
    values,
  );
  return rows.map((row) => ({ id: numberOf(row, 'key'), text: textOf(row, 'text_content') }));
}
