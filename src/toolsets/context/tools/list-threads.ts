import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';

export function createListThreadsTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'list_threads',
    title: 'List Threads',
    description: 'Lists the threads with the number and dates of their entries, the most recent first.',
    effect: 'read',
    input: z.object({
      filter: z.string().min(1).optional().describe('Part of the thread id.'),
      limit: z.int().min(1).max(1000).optional(),
      offset: z.int().min(0).default(0),
    }),
    output: z.looseObject({ threads: z.array(z.unknown()), total_threads: z.int(), has_more: z.boolean() }),
    async run({ filter: containing, limit, offset }, { signal }) {
      const { threads, total } = await entries.threads({ containing, limit, offset }, { signal });
      return {
        threads: threads.map((thread) => ({
          thread_id: thread.threadId,
          entry_count: thread.entries,
          source_types: thread.sources,
          multimodal_count: thread.multimodal,
          first_entry: thread.firstEntry,
          last_entry: thread.lastEntry,
          last_id: thread.lastId,
        })),
        total_threads: total,
        has_more: offset + threads.length < total,
      };
    },
  });
}
