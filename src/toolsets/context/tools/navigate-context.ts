import { z } from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { oneEntry } from '../one-entry.ts';
import { countNodes, outlineOf } from '../outline.ts';

const nodeShape = z.object({
  node_id: z.string().describe('read_context_range takes it.'),
  level: z.int(),
  title: z.string(),
  char_start: z.int(),
  char_end: z.int(),
  get children() {
    return z.array(nodeShape);
  },
});

export function createNavigateContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'navigate_context',
    title: 'Navigate Context',
    description:
      'Returns the outline of a long entry: its headings, with the range of characters that each covers. Then read_context_range reads one part.',
    effect: 'read',
    input: z.object({
      context_id: z.int().min(1),
      max_depth: z.int().min(1).max(6).default(6).describe('Levels of headings below the whole text.'),
    }),
    output: z.object({
      context_id: z.int(),
      total_chars: z.int(),
      total_lines: z.int(),
      node_count: z.int(),
      root: nodeShape,
    }),
    async run({ context_id: id, max_depth: depth }, { signal }) {
      const { text } = await oneEntry(entries, id, signal);
      const root = outlineOf(text, depth);
      return {
        context_id: id,
        total_chars: root.char_end,
        total_lines: text.split('\n').length,
        node_count: countNodes(root),
        root,
      };
    },
  });
}
