import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { EntryUpdate, UpdateOutcome } from '../../../storage/entries/write-entries.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { jsonObject } from '../inputs.ts';
import { remarks } from '../show/entry-shapes.ts';
import { type BatchItem, batchAnswer, batchInput, batchItems, batchOutput, runBatch } from '../write/batch.ts';
import { idempotencyInput, idempotencyOf, parseUpdate, replacedEntries, replacesInput } from '../write/write-input.ts';

export function createUpdateContextTool(parts: WriteParts): Tool {
  const { entries, meaning, writes } = parts;
  return defineTool({
    name: 'update_context',
    title: 'Update Context',
    description: 'Replaces the given fields of a memory entry; [] clears tags or images.',
    effect: 'change',
    input: z.object({
      context_id: z.int().min(1),
      text: z.string().min(1).optional(),
      metadata: jsonObject.optional(),
      metadata_patch: jsonObject.optional().describe('Merged into the metadata; null removes a key.'),
      tags: z.array(z.string()).optional(),
      images: z.array(jsonObject).optional(),
      ...replacesInput,
      ...idempotencyInput,
    }),
    output: z.object({
      success: z.boolean(),
      context_id: z.int(),
      updated_fields: z.array(z.string()),
      message: z.string(),
    }),
    async run(input) {
      const update = parseUpdate(input, writes, await replacedEntries(entries, [input]));
      const [outcome] = await entries.update({
        updates: [update],
        allOrNothing: true,
        ...idempotencyOf('update_context', input),
      });
      if (!outcome?.found) throw new CarrelError('entry_not_found', `Context entry with ID ${update.id} not found`);
      wakeBacklogs(parts);
      const fields = updatedFields(update, outcome, meaning !== undefined);
      const summary =
        update.text === undefined
          ? undefined
          : update.needsSummary
            ? 'summary queued'
            : outcome.hadSummary && 'summary cleared';
      const notes = remarks(fields.includes('embedding') && 'embedding queued', summary);
      return {
        success: true,
        context_id: update.id,
        updated_fields: fields,
        message: `Successfully updated ${fields.length} field(s)${notes}`,
      };
    },
  });
}

export function createUpdateContextBatchTool(parts: WriteParts): Tool {
  const { entries, meaning, writes } = parts;
  return defineTool({
    name: 'update_context_batch',
    title: 'Update Context (Batch)',
    description:
      'Updates up to 100 memory entries in one call. With atomic, updates all or none; otherwise every valid one.',
    effect: 'change',
    input: z.object({ updates: batchItems.describe('Each with the arguments of update_context.'), ...batchInput }),
    output: batchOutput,
    async run(input) {
      const replaceable = await replacedEntries(entries, input.updates);
      const rows = await runBatch<EntryUpdate, UpdateOutcome>({
        items: input.updates,
        atomic: input.atomic,
        parse: (item) => parseUpdate(item, writes, replaceable),
        rejection: ({ index, fault }) =>
          `updates, nothing was changed. First error for context_id ${idOf(input.updates[index])} at index ${index}: ${fault}`,
        perform: (updates) =>
          entries.update({ updates, allOrNothing: input.atomic, ...idempotencyOf('update_context_batch', input) }),
      });
      wakeBacklogs(parts);
      const results = rows.map((row) => {
        const failed = { index: row.index, success: false, updated_fields: null };
        if ('fault' in row) return { ...failed, context_id: idOf(input.updates[row.index]), error: row.fault };
        const { id } = row.item;
        if (!row.outcome.found) return { ...failed, context_id: id, error: `Context entry with ID ${id} not found` };
        const fields = updatedFields(row.item, row.outcome, meaning !== undefined);
        return { index: row.index, context_id: id, success: true, updated_fields: fields, error: null };
      });
      const changed = results.flatMap(({ updated_fields: fields }) => fields ?? []);
      const updated = rows.flatMap((row) =>
        'outcome' in row && row.outcome.found ? [{ item: row.item, hadSummary: row.outcome.hadSummary }] : [],
      );
      const texts = updated.filter(({ item }) => item.text !== undefined);
      const notes = remarks(
        changed.includes('embedding') && 'embeddings queued',
        texts.some(({ item }) => item.needsSummary) && 'summaries queued',
        texts.some(({ item, hadSummary }) => !item.needsSummary && hadSummary) && 'summaries cleared',
      );
      return batchAnswer(results, (succeeded) => {
        if (succeeded > 0) return `Updated ${succeeded}/${rows.length} entries successfully${notes}`;
        const missing = rows.some((row) => 'outcome' in row) ? ' or entry not found' : '';
        return `All updates failed validation${missing}`;
      });
    },
  });
}

/** Returns the id of an item, or 0 if it has no valid one. */
function idOf(item: BatchItem | undefined): number {
  const id = item?.['context_id'];
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : 0;
}

/** Returns the changed fields, with the names and order that mcp-context-server uses. */
function updatedFields(
  update: EntryUpdate,
  outcome: Extract<UpdateOutcome, { found: true }>,
  embeds: boolean,
): string[] {
  const isNewText = update.text !== undefined;
  const changes: [name: string, changed: boolean][] = [
    ['text_content', isNewText],
    ['metadata', update.metadata !== undefined],
    ['summary', isNewText && (update.needsSummary === true || outcome.hadSummary)],
    ['metadata', update.metadataPatch !== undefined],
    ['tags', update.tags !== undefined],
    ['images', update.images !== undefined],
    // mcp-context-server lists this field even if its value stays the same.
    ['content_type', update.images !== undefined],
    ['embedding', isNewText && embeds],
  ];
  return changes.filter(([, changed]) => changed).map(([name]) => name);
}
