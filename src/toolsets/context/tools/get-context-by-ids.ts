import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bounds } from '../bounds.ts';
import type { ContextParts } from '../context-parts.ts';
import { pastWarnings } from '../search/past-warnings.ts';
import { asOfFilter, asOfInput } from '../search/search-input.ts';
import { showFull } from '../show/entry-shapes.ts';
import { budgetInput, fitBudget } from '../show/token-budget.ts';

export function createGetContextByIdsTool({ entries, summaries }: Pick<ContextParts, 'entries' | 'summaries'>): Tool {
  return defineTool({
    name: 'get_context_by_ids',
    title: 'Get Context by IDs',
    description: 'Returns whole entries by id, newest first. Searches and store_context return the ids.',
    effect: 'read',
    listed: 'result',
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.gotIds.max),
      include_images: z.boolean().default(true),
      ...asOfInput,
      ...budgetInput,
    }),
    // The mark makes FastMCP's clients return the list, as they do from the original.
    output: z
      .looseObject({
        result: z.array(z.unknown()),
        missing_ids: z.unknown().optional(),
        hint: z.unknown().optional(),
        budget: z.unknown().optional(),
        warnings: z.unknown().optional(),
      })
      .meta({ 'x-fastmcp-wrap-result': true }),
    async run({ context_ids: given, include_images: images, budget_tokens: budget, ...then }, { signal }) {
      const ids = [...new Set(given)];
      const { asOf } = asOfFilter(then);
      await summaries?.settle();
      const found = await entries.get({ ids, images, asOf }, { signal });
      const there = new Set(found.map(({ id }) => id));
      const missing = ids.filter((id) => !there.has(id));
      const { entries: result, report } = fitBudget(found.map(showFull), budget, then);
      return {
        result,
        ...(missing.length > 0 ? { missing_ids: missing } : {}),
        ...(found.length > 0 ? {} : { hint: 'No entry has any of these ids; searches name those there are.' }),
        ...report,
        ...(await pastWarnings(entries, { ids, asOf }, 'read', signal)),
      };
    },
  });
}
