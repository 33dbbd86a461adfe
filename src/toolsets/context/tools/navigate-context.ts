import * as z from 'zod';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { asOfFilter, asOfInput } from '../search/search-input.ts';
import { oneEntry } from '../show/entry-shapes.ts';
import { countNodes, outlineOf } from '../show/outline.ts';

export function createNavigateContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'navigate_context',
    title: 'Navigate Context',
    description: 'Outlines a long entry by its headings; read_context_range reads a part of it.',
    effect: 'read',
    input: z.object({
      context_id: z.int().min(1),
      max_depth: z.int().min(1).max(6).default(6),
      ...asOfInput,
    }),
    output: freeAnswer(
      'context_id, total_chars, total_lines, node_count, root: {node_id, title, char_start, char_end, children}',
    ),
    async run({ context_id: id, max_depth: depth, ...then }, { signal }) {
      const { text } = await oneEntry(entries, id, signal, asOfFilter(then).asOf);
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
