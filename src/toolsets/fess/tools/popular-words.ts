import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { FessApi } from '../fess-api/fess-api.ts';

export function createPopularWordsTool({ label }: { label: string }, api: FessApi): Tool {
  return defineTool({
    name: 'popular_words',
    title: 'Popular words',
    description: 'Retrieve popular words in the knowledge domain, which show what it contains.',
    effect: 'read',
    openWorld: true,
    input: z.object({
      seed: z.int().min(0).max(2_147_483_647).optional().describe('Another seed picks other words.'),
      field: z
        .string()
        .regex(/^[a-zA-Z0-9_]{1,64}$/)
        .optional()
        .describe('Only words from this field.'),
    }),
    output: z.object({ words: z.array(z.string()) }),
    async run({ seed, field }, { signal }) {
      const request = { label, ...(seed === undefined ? {} : { seed }), ...(field === undefined ? {} : { field }) };
      return { words: await api.popularWords(request, { signal }) };
    },
  });
}
