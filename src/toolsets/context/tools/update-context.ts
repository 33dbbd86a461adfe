import { z } from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { remarks } from '../remarks.ts';
import { updatedFields } from '../updated-fields.ts';
import { idempotencyInput, idempotencyOf, parseUpdate } from '../write-input.ts';

export function createUpdateContextTool({
  entries,
  meaning,
  writes,
}: Pick<ContextParts, 'entries' | 'meaning' | 'writes'>): Tool {
  return defineTool({
    name: 'update_context',
    title: 'Update Context',
    description:
      'Changes fields of an entry: text, tags and images are replaced; metadata is replaced, or merged with metadata_patch (RFC 7396: null takes a key away). thread_id, source and created_at stay.',
    effect: 'delete',
    input: z.object({
      context_id: z.int().min(1).describe('The entry to change.'),
      text: z.string().min(1).optional(),
      metadata: z.record(z.string(), z.unknown()).optional().describe('Replaces all metadata.'),
      metadata_patch: z.record(z.string(), z.unknown()).optional().describe('Merged into the metadata.'),
      tags: z.array(z.string()).optional().describe('Replace all tags; [] takes them away.'),
      images: z.array(z.record(z.string(), z.unknown())).optional().describe('Replace all images; [] takes them away.'),
      ...idempotencyInput,
    }),
    output: z.object({
      success: z.boolean(),
      context_id: z.int(),
      updated_fields: z.array(z.string()),
      message: z.string(),
    }),
    async run(input) {
      const update = parseUpdate(input, writes);
      const [outcome] = await entries.update({
        updates: [update],
        allOrNothing: true,
        ...idempotencyOf('update_context', input),
      });
      if (!outcome?.found) throw new CarrelError('entry_not_found', `Context entry with ID ${update.id} not found`);
      meaning?.wake();
      const fields = updatedFields(update, outcome, meaning !== undefined);
      const summary =
        update.text === undefined
          ? undefined
          : update.summary === null
            ? outcome.hadSummary && 'summary cleared'
            : 'summary regenerated';
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
