import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { jsonObject } from '../inputs.ts';
import { remarks } from '../show/remarks.ts';
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
        outcome.summaryKept ? 'summary preserved' : entry.summaryWanted && 'summary queued',
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
