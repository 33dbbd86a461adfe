import * as z from 'zod';
import { boundedText } from '../../../tools/bounded-text.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
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
    description: `Searches several sources at once: one list, best first, with where each hit is from and why it was found. Sources: ${known}. The answer says which sources failed.`,
    effect: 'read',
    openWorld: true,
    input: z.object({
      query: boundedText({ required: true, max: 1000, trim: true }),
      sources: z
        .array(z.enum(names))
        .min(1)
        .optional()
        .describe(`Default: ${usual.join(', ')}.`),
      limit: z.int().min(1).max(50).default(10),
      budget_tokens: z.int().min(50).max(100_000).optional(),
    }),
    output: freeAnswer(
      'query, hits: [{source, uri, title, snippet, date, origin, score?, relevance?, why}], sources: [{source, status, hits, message?}], omitted, weak_omitted?, hint?, reranking?',
    ),
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
