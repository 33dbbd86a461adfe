import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { remarks } from '../remarks.ts';
import { updatedFields } from '../updated-fields.ts';
import { idempotencyInput, idempotencyOf, parseUpdate } from '../write-input.ts';
import { attempt } from './store-context-batch.ts';

export function createUpdateContextBatchTool({
  entries,
  meaning,
  writes,
}: Pick<ContextParts, 'entries' | 'meaning' | 'writes'>): Tool {
  return defineTool({
    name: 'update_context_batch',
    title: 'Update Context (Batch)',
    description: 'Up to 100 updates in one call: all of them or none, or with atomic=false those that can be made.',
    effect: 'delete',
    input: z.object({
      updates: z.array(z.record(z.string(), z.unknown())).min(1).max(100).describe('As update_context takes them.'),
      atomic: z.boolean().default(true),
      ...idempotencyInput,
    }),
    output: z.object({
      success: z.boolean(),
      total: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      results: z.array(z.unknown()),
      message: z.string(),
    }),
    async run(input) {
      const parsed = input.updates.map((given) => attempt(() => parseUpdate(given, writes)));
      const faults = parsed.flatMap((item, index) => ('fault' in item ? [{ index, fault: item.fault }] : []));
      const [first] = faults;
      if (input.atomic && first !== undefined) {
        throw new CarrelError(
          'invalid_arguments',
          `Validation failed for ${faults.length} of ${parsed.length} updates, nothing was changed. First error for context_id ${idOf(input.updates[first.index])} at index ${first.index}: ${first.fault}`,
        );
      }
      const updates = parsed.flatMap((item) => ('value' in item ? [item.value] : []));
      const outcomes =
        updates.length === 0
          ? []
          : await entries.update({
              updates,
              allOrNothing: input.atomic,
              ...idempotencyOf('update_context_batch', input),
            });
      meaning?.wake();
      let next = 0;
      const results = parsed.map((item, index) => {
        const failed = { index, success: false, updated_fields: null };
        if ('fault' in item) return { ...failed, context_id: idOf(input.updates[index]), error: item.fault };
        const outcome = outcomes[next++];
        const { id } = item.value;
        if (!outcome?.found) return { ...failed, context_id: id, error: `Context entry with ID ${id} not found` };
        const fields = updatedFields(item.value, outcome, meaning !== undefined);
        return { index, context_id: id, success: true, updated_fields: fields, error: null };
      });
      const succeeded = results.filter(({ success }) => success).length;
      const changed = results.flatMap(({ updated_fields: fields }) => fields ?? []);
      const notes = remarks(
        changed.includes('embedding') && 'embeddings queued',
        changed.includes('summary') && 'summaries regenerated',
      );
      return {
        success: succeeded === results.length,
        total: results.length,
        succeeded,
        failed: results.length - succeeded,
        results,
        message:
          succeeded === 0
            ? `All updates failed validation${updates.length > 0 ? ' or entry not found' : ''}`
            : `Updated ${succeeded}/${results.length} entries successfully${notes}`,
      };
    },
  });
}

/** 0 where the item names no entry. */
function idOf(given: Readonly<Record<string, unknown>> | undefined): number {
  const id = given?.['context_id'];
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : 0;
}
