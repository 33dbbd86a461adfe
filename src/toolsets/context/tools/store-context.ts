import * as z from 'zod';
import type { NewEntry } from '../../../storage/entries/entry.ts';
import type { StoreOutcome } from '../../../storage/entries/write-entries.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { jsonObject } from '../inputs.ts';
import { remarks } from '../show/entry-shapes.ts';
import { type BatchRow, batchAnswer, batchInput, batchItems, batchOutput, runBatch } from '../write/batch.ts';
import {
  idempotencyInput,
  idempotencyOf,
  parseNewEntry,
  replacedEntries,
  replacesInput,
} from '../write/write-input.ts';

const newEntryInput = {
  thread_id: z.string().min(1).describe('Names the conversation or task.'),
  source: z.enum(['user', 'agent']),
  text: z.string().min(1),
  images: z.array(jsonObject).optional().describe('{data: base64, mime_type, metadata}'),
  metadata: jsonObject.optional(),
  tags: z.array(z.string()).optional(),
  ...replacesInput,
};

export function createStoreContextTool(parts: WriteParts): Tool {
  const { entries, meaning, writes } = parts;
  return defineTool({
    name: 'store_context',
    title: 'Store Context',
    description:
      "Saves a text to memory: a decision, a result, a preference of the user. Repeating a thread's last entry updates it.",
    effect: 'add',
    input: z.object({
      ...newEntryInput,
      idempotency_key: idempotencyInput.idempotency_key.describe('Repeated calls with the same key run once.'),
    }),
    output: z.object({ success: z.boolean(), context_id: z.int(), thread_id: z.string(), message: z.string() }),
    async run(input) {
      const entry = parseNewEntry(input, writes, await replacedEntries(entries, [input]));
      const [outcome] = await entries.store({ entries: [entry], ...idempotencyOf('store_context', input) });
      if (outcome === undefined) throw new TypeError('an entry was stored without an outcome');
      wakeBacklogs(parts);
      const images = entry.images.length > 0 ? ` with ${entry.images.length} images` : '';
      const notes = remarks(
        meaning && !outcome.repeated && 'embedding queued',
        outcome.summaryKept ? 'summary preserved' : entry.needsSummary && 'summary queued',
      );
      return {
        success: true,
        context_id: outcome.id,
        thread_id: outcome.threadId,
        message: `${outcome.repeated ? 'Context updated' : 'Context stored'}${images}${notes}`,
      };
    },
  });
}

export function createStoreContextBatchTool(parts: WriteParts): Tool {
  const { entries, meaning, writes } = parts;
  return defineTool({
    name: 'store_context_batch',
    title: 'Store Context (Batch)',
    description:
      'Saves up to 100 entries to memory in one call. With atomic, saves all or none; otherwise every valid one.',
    effect: 'add',
    input: z.object({ entries: batchItems.describe('Each with the arguments of store_context.'), ...batchInput }),
    output: batchOutput,
    async run(input) {
      const replaceable = await replacedEntries(entries, input.entries);
      const rows = await runBatch<NewEntry, StoreOutcome>({
        items: input.entries,
        atomic: input.atomic,
        parse: (item) => parseNewEntry(item, writes, replaceable),
        rejection: ({ index, fault }) => `entries, nothing was stored. First error at index ${index}: ${fault}`,
        perform: (items) => entries.store({ entries: items, ...idempotencyOf('store_context_batch', input) }),
      });
      wakeBacklogs(parts);
      const results = rows.map((row) =>
        'fault' in row
          ? { index: row.index, success: false, context_id: null, error: row.fault }
          : { index: row.index, success: true, context_id: row.outcome.id, error: null },
      );
      return batchAnswer(results, (succeeded) =>
        succeeded === 0
          ? 'All entries failed validation'
          : `Stored ${succeeded}/${rows.length} entries successfully${batchRemarks(rows, meaning !== undefined)}`,
      );
    },
  });
}

function batchRemarks(rows: readonly BatchRow<NewEntry, StoreOutcome>[], embeds: boolean): string {
  const stored = rows.flatMap((row) => ('outcome' in row ? [row] : []));
  return remarks(
    embeds && stored.some(({ outcome }) => !outcome.repeated) && 'embeddings queued',
    stored.some(({ item, outcome }) => item.needsSummary && !outcome.summaryKept) && 'summaries queued',
    stored.some(({ outcome }) => outcome.summaryKept) && 'summaries preserved',
  );
}
