import * as z from 'zod';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';

/** Creates the tools that only the web console offers. */
export function createContextConsoleTools({ entries }: Pick<ContextParts, 'entries'>): Tool[] {
  return [
    defineTool({
      name: 'context_trash',
      title: 'Deleted memories',
      description: 'Lists deleted memory entries that can be restored, last deleted first.',
      effect: 'read',
      input: z.object({ limit: z.int().min(1).max(500).default(50), offset: z.int().min(0).default(0) }),
      output: freeAnswer('entries, total'),
      async run(request, { signal }) {
        const { entries: deleted, total } = await entries.deleted(request, { signal });
        const shown = deleted.map(({ id, threadId, text, createdAt, deletedAt }) => ({
          id,
          thread_id: threadId,
          text,
          created_at: createdAt,
          deleted_at: deletedAt,
        }));
        return { entries: shown, total };
      },
    }),
    defineTool({
      name: 'context_purge',
      title: 'Delete memories for good',
      description: 'Removes deleted memory entries from the trash.',
      effect: 'change',
      input: z.object({ context_ids: z.array(z.int()).min(1).max(500) }),
      output: freeAnswer('purged'),
      run: async ({ context_ids: ids }) => ({ purged: await entries.purge({ ids }) }),
    }),
  ];
}
