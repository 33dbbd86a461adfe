import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { jsonObject } from '../inputs.ts';
import { remarks } from '../show/remarks.ts';
import { updatedFields } from '../write/updated-fields.ts';
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
          : update.summaryWanted
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
