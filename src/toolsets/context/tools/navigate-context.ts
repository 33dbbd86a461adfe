import * as z from 'zod';
import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { asOfFilter, asOfInput } from '../search/search-input.ts';
import { oneEntry } from '../show/entry-shapes.ts';

export function createNavigateContextTool({ entries, texts }: Pick<ContextParts, 'entries' | 'texts'>): Tool {
  return defineTool({
    name: 'navigate_context',
    title: 'Navigate Context',
    description: 'Outlines a long memory entry by its headings. read_context_range reads a section by node_id.',
    effect: 'read',
    input: z.object({
      context_id: z.int().min(1),
      max_depth: z.int().min(1).max(6).default(6),
      ...asOfInput,
    }),
    output: freeAnswer(
      'context_id, total_chars, total_lines, node_count, root: {node_id, title, char_start, char_end, children}, truncated?, hint?',
    ),
    async run({ context_id: id, max_depth: depth, ...then }, call) {
      const { text } = await oneEntry(entries, id, call.signal, asOfFilter(then).asOf);
      const outline = await texts.outline(text, { depth, bytesMax: itemBytesMax(call) }, call.signal);
      return {
        context_id: id,
        total_chars: outline.root.char_end,
        total_lines: text.split('\n').length,
        ...outline,
      };
    },
  });
}
