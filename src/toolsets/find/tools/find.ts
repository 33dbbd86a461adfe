import * as z from 'zod';
import { boundedText } from '../../../tools/bounded-text.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { estimateTokens } from '../../../tools/token-estimate.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { askSources } from '../ask-sources.ts';
import { type FusedHit, fuseRanks } from '../fuse-ranks.ts';

const sourceTimeoutMs = 30_000;

export function createFindTool(sources: readonly SearchSource[]): Tool {
  const names = sources.map(({ name }) => name);
  const usual = sources.filter(({ askedByDefault }) => askedByDefault).map(({ name }) => name);
  const known = sources.map(({ name, description }) => `${name} (${description})`).join(', ');
  return defineTool({
    name: 'find',
    title: 'Find in every source',
    description: `Searches several sources at once and returns one list, best first, each hit with where it is from and why it was found. Sources: ${known}. The answer says for every source whether it was searched or failed, so that a failed source is never mistaken for one without hits.`,
    effect: 'read',
    openWorld: true,
    input: z.object({
      query: boundedText({ required: true, max: 1000, trim: true }).describe('What to look for, in plain words.'),
      sources: z
        .array(z.enum(names))
        .min(1)
        .optional()
        .describe(`Which sources to search; ${usual.join(', ')} by default.`),
      limit: z.int().min(1).max(50).default(10).describe('How many hits to return.'),
      budget_tokens: z
        .int()
        .min(50)
        .max(100_000)
        .optional()
        .describe('About how many tokens the hits may take; the least relevant ones are left out.'),
    }),
    output: z.object({
      query: z.string(),
      hits: z.array(
        z.object({
          source: z.string(),
          uri: z.string(),
          title: z.string(),
          snippet: z.string(),
          date: z.string().nullable(),
          origin: z.string(),
          score: z.number(),
          why: z.string(),
        }),
      ),
      sources: z.array(
        z.object({
          source: z.string(),
          status: z.enum(['searched', 'degraded', 'failed', 'skipped']),
          hits: z.int(),
          message: z.string().optional(),
        }),
      ),
      omitted: z.int().describe('Hits that were left out because of limit or budget_tokens.'),
    }),
    async run({ query, sources: named, limit, budget_tokens: budget }, call) {
      const wanted = new Set<string>(named ?? usual);
      const question = { query, limit, wanted, timeoutMs: sourceTimeoutMs };
      const { lists, reports } = await askSources(sources, question, call);
      const fused = fuseRanks(lists);
      const hits = withinBudget(fused.slice(0, limit), budget);
      return { query, hits: hits.map(shown), sources: reports, omitted: fused.length - hits.length };
    },
  });
}

function shown({ source, uri, title, snippet, date, origin, score, why }: FusedHit) {
  return { source, uri, title, snippet, date, origin, score: Number(score.toFixed(6)), why };
}

/** The best hits that fit, but at least one: an empty answer would mean that there are none. */
function withinBudget(hits: readonly FusedHit[], budget: number | undefined): FusedHit[] {
  if (budget === undefined) return [...hits];
  const kept: FusedHit[] = [];
  let spent = 0;
  for (const hit of hits) {
    spent += estimateTokens(JSON.stringify(shown(hit)));
    if (spent > budget && kept.length > 0) break;
    kept.push(hit);
  }
  return kept;
}
