import * as z from 'zod';
import { fitItems, itemBytesMax } from '../../../answers/answer-limit.ts';
import { defineTool, named, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { nearestThread } from '../search/hints.ts';

/** Max threads if the caller sets no limit. An answer can't hold more. */
const threadsDefault = 20_000;

export function createListThreadsTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  async function hintOf(part: string | undefined, total: number, signal: AbortSignal): Promise<string> {
    if (total > 0) return `offset is past the last of ${total} threads; start again with offset 0.`;
    const { nearest, total: count } = await nearestThread(entries, part ?? '', signal);
    if (part === undefined || count === 0) return 'Memory is empty: add entries with store_context.';
    return `None of the ${count} thread ids contains this${nearest ? `; the closest is ${JSON.stringify(nearest)}` : ''}.`;
  }

  return defineTool({
    name: 'list_threads',
    title: 'List Threads',
    description: 'Lists memory threads with entry counts and dates, latest first.',
    effect: 'read',
    input: z.object({
      filter: z.string().min(1).optional().describe('Part of the thread id.'),
      limit: z.int().min(1).max(1000).optional(),
      offset: z.int().min(0).default(0),
    }),
    // Declared properties make FastMCP clients return an object, as with mcp-context-server.
    output: z.looseObject({
      threads: z.array(
        named('thread_id', 'entry_count', 'source_types', 'multimodal_count', 'first_entry', 'last_entry', 'last_id'),
      ),
      total_threads: z.int(),
      has_more: z.unknown(),
      ...named('next_offset', 'truncated', 'hint').shape,
    }),
    async run({ filter: containing, limit = threadsDefault, offset }, call) {
      const { signal } = call;
      const { threads, total } = await entries.threads({ containing, limit, offset }, { signal });
      const shown = fitItems(
        threads.map((thread) => ({
          thread_id: thread.threadId,
          entry_count: thread.entries,
          source_types: thread.sources,
          multimodal_count: thread.multimodal,
          first_entry: thread.firstEntry,
          last_entry: thread.lastEntry,
          last_id: thread.lastId,
        })),
        itemBytesMax(call),
      );
      const next = offset + shown.length;
      return {
        threads: shown,
        total_threads: total,
        ...(threads.length > 0 ? {} : { hint: await hintOf(containing, total, signal) }),
        has_more: next < total,
        ...(next < total ? { next_offset: next } : {}),
        ...(shown.length < threads.length
          ? { truncated: true, hint: `The answer is full: continue with offset ${next}.` }
          : {}),
      };
    },
  });
}
