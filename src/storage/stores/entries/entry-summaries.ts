import type { SummaryRequest, TextToSummarise } from '../../contracts/entries.ts';
import { storable } from '../../contracts/notes.ts';
import type { Dialect } from '../../dialect.ts';
import { numberOf, textOf } from '../../statements.ts';
import type { Source } from './entry-filter.ts';
import { query, type Work } from './work.ts';

export interface EntrySummaries {
  unsummarised(request: { readonly limit: number }): Work<TextToSummarise[]>;
  putSummary(request: SummaryRequest): Work<void>;
}

export function createEntrySummaries(dialect: Dialect): EntrySummaries {
  const entries = `${dialect.schema}context_entries`;
  const queue = `${dialect.schema}context_summary_queue`;
  return {
    *unsummarised({ limit }) {
      const rows = yield* query(
        `SELECT o.key, o.source, o.text_content, o.text_hash FROM ${queue} q JOIN ${entries} o ON o.key = q.entry
         WHERE o.deleted_at IS NULL ORDER BY q.entry LIMIT ?`,
        limit,
      );
      return rows.map((row) => ({
        id: numberOf(row, 'key'),
        // The schema allows no others.
        source: textOf(row, 'source') as Source,
        text: textOf(row, 'text_content'),
        textHash: textOf(row, 'text_hash'),
      }));
    },
    *putSummary({ id, textHash, summary }) {
      const written = yield* query(
        `UPDATE ${entries} SET summary = ? WHERE key = ? AND text_hash = ? AND deleted_at IS NULL RETURNING key`,
        ...[summary === undefined ? null : storable(summary), id, textHash],
      );
      if (written.length > 0) yield* query(`DELETE FROM ${queue} WHERE entry = ?`, id);
    },
  };
}
