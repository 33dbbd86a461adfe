import type { SummaryRequest, TextToSummarise } from '../../contracts/entries.ts';
import type { Source } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';

export async function unsummarisedEntries(
  on: Statements,
  { limit }: { readonly limit: number },
): Promise<TextToSummarise[]> {
  const rows = await on.query(
    `SELECT o.key, o.source, o.text_content, o.text_hash FROM ${on.dialect.schema}context_summary_queue q
      JOIN ${on.dialect.schema}context_entries o ON o.key = q.entry WHERE o.deleted_at IS NULL
      ORDER BY q.entry LIMIT ?`,
    [limit],
  );
  return rows.map((row) => ({
    id: numberOf(row, 'key'),
    // The schema allows no others.
    source: textOf(row, 'source') as Source,
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
  }));
}

export async function putSummary(on: Statements, { id, textHash, summary }: SummaryRequest): Promise<void> {
  const written = await on.query(
    `UPDATE ${on.dialect.schema}context_entries SET summary = ? WHERE key = ? AND text_hash = ? AND deleted_at IS NULL
      RETURNING key`,
    [summary === undefined ? null : storable(summary), id, textHash],
  );
  if (written.length > 0) await on.query(`DELETE FROM ${on.dialect.schema}context_summary_queue WHERE entry = ?`, [id]);
}
