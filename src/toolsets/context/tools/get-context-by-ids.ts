import * as z from 'zod';
import { budgetInput } from '../../../answers/token-budget.ts';
import { defineTool, named, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { bounds } from '../inputs.ts';
import { historyWarnings } from '../search/search-answer.ts';
import { asOfFilter, asOfInput } from '../search/search-input.ts';
import { showFull } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';

export function createGetContextByIdsTool({ entries, summaries }: Pick<ContextParts, 'entries' | 'summaries'>): Tool {
  return defineTool({
    name: 'get_context_by_ids',
    title: 'Get Context by IDs',
    description: 'Returns whole memory entries by id, newest first.',
    effect: 'read',
    listField: 'result',
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.idsToGet.max),
      include_images: z.boolean().default(true),
      ...asOfInput,
      ...budgetInput,
    }),
    // `x-fastmcp-wrap-result` makes FastMCP clients return just the list, as with mcp-context-server.
    output: z
      .looseObject({
        result: z.array(z.unknown()),
        ...named('missing_ids', 'hint', 'budget', 'truncated', 'omitted_ids', 'omitted_next', 'cut', 'warnings').shape,
      })
      .meta({ 'x-fastmcp-wrap-result': true }),
    async run(input, call) {
      const { context_ids: requested, include_images: images } = input;
      const { signal } = call;
      const ids = [...new Set(requested)];
      const { asOf } = asOfFilter(input);
      await summaries?.waitForLocal();
      const request = { images, asOf, order: 'newest', input, show: showFull } as const;
      const { results: result, found, omitted, report } = await fitAnswer(entries, ids, request, call);
      const existing = new Set([...found, ...omitted]);
      const missing = ids.filter((id) => !existing.has(id));
      return {
        result,
        ...(missing.length > 0 ? { missing_ids: missing } : {}),
        ...(existing.size > 0 ? {} : { hint: 'No entry has any of these ids; use a search to find valid ones.' }),
        ...report,
        ...(await historyWarnings(entries, { ids, asOf }, 'read', signal)),
      };
    },
  });
}
