import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { FessApi } from '../fess-api/fess-api.ts';

export function createSuggestTool({ label }: { label: string }, api: FessApi): Tool {
  return defineTool({
    name: 'suggest',
    title: 'Suggest terms',
    description: 'Suggest related terms for a query in the knowledge domain.',
    effect: 'read',
    openWorld: true,
    input: z.object({
      prefix: z.string().min(1).max(1000).describe('The first letters of a term.'),
      num: z.int().min(1).max(100).default(10).describe('How many suggestions.'),
      fields: z
        .array(z.string().regex(/^[a-zA-Z0-9_]{1,64}$/))
        .max(20)
        .optional()
        .describe('Only terms from these fields, such as title.'),
      lang: z.string().max(20).optional().describe('Such as en.'),
    }),
    output: z.object({
      prefix: z.string(),
      suggestions: z.array(z.object({ text: z.string(), labels: z.array(z.string()).optional() })),
    }),
    async run({ prefix, num, fields, lang }, { signal }) {
      const request = { label, prefix, num, ...(fields ? { fields } : {}), ...(lang ? { lang } : {}) };
      const found = await api.suggest(request, { signal });
      const suggestions = found.map(({ text, labels }) => (labels.length === 0 ? { text } : { text, labels }));
      return { prefix, suggestions };
    },
  });
}
