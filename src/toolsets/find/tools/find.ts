import * as z from 'zod';
import type { Reranker } from '../../../search/reranking/reranker.ts';
import { rerankingField } from '../../../search/reranking/reranker.ts';
import { boundedText } from '../../../tools/bounded-text.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { estimateTokens } from '../../../tools/token-estimate.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { weakHint } from '../../../tools/weak-hint.ts';
import { askSources, type SourceReport } from '../ask-sources.ts';
import { byRelevance, type FoundHit } from '../by-relevance.ts';
import { judgeHits } from '../judge-hits.ts';

const sourceTimeoutMs = 30_000;

export function createFindTool(sources: readonly SearchSource[], reranker: Reranker): Tool {
  const names = sources.map(({ name }) => name);
  const usual = sources.filter(({ askedByDefault }) => askedByDefault).map(({ name }) => name);
  const known = sources.map(({ name, description }) => `${name} (${description})`).join(', ');
  return defineTool({
    name: 'find',
    title: 'Find in every source',
    description: `Searches several sources at once: one list, most relevant first, with where each hit is from and why it was found. Sources: ${known}. The answer says which sources failed.`,
    effect: 'read',
    found: { list: 'hits', title: 'title' },
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
      include_weak: z.boolean().optional().describe('Also what hardly fits.'),
    }),
    output: freeAnswer(
      'query, hits: [{source, uri, hash, range, chunk_index?, title, snippet, date, origin, relevance, why}], sources: [{source, status, hits, message?}], omitted, weak_omitted?, hint?, reranking?',
    ),
    async run({ query, sources: named, limit, budget_tokens: budget, include_weak: includesWeak = false }, call) {
      const wanted = new Set<string>(named ?? usual);
      const question = { query, limit, includesWeak, wanted, timeoutMs: sourceTimeoutMs };
      const asked = await askSources(sources, question, call);
      const judged = await judgeHits(asked.lists, { query, includesWeak, signal: call.signal }, reranker);
      const ordered = byRelevance(judged.hits);
      const hits = withinBudget(ordered.slice(0, limit), budget);
      const weak = asked.omitted + judged.omitted;
      const reranking = asked.reranking ?? judged.reranking;
      return {
        query,
        hits: hits.map((hit) => ({ ...shown(hit), ...(call.explains ? { scores: hit.scores ?? {} } : {}) })),
        sources: asked.reports,
        omitted: ordered.length - hits.length,
        ...(weak > 0 ? { weak_omitted: weak } : {}),
        ...(hits.length === 0 ? { hint: emptyHint(asked.reports, weak) } : {}),
        ...rerankingField(reranking),
      };
    },
  });
}

/** Why nothing is shown, and what to do. */
function emptyHint(reports: readonly SourceReport[], weak: number): string {
  if (weak > 0) return weakHint(weak, 'hit', 'hits');
  const named = (...states: SourceReport['status'][]): string =>
    reports.flatMap(({ source, status }) => (states.includes(status) ? [source] : [])).join(', ');
  const [failed, skipped] = [named('failed'), named('skipped')];
  if (failed !== '') return `Nothing was found, but it is not known what these have: ${failed}. Ask again later.`;
  const others = skipped === '' ? '' : `, or other sources (${skipped})`;
  return `Nothing in ${named('searched', 'degraded')} fits this. Try other words${others}.`;
}

function shown(hit: FoundHit) {
  const { source, uri, hash, range, chunk_index: chunk, title, snippet, date, origin, relevance, why } = hit;
  const where = chunk === undefined ? { range } : { range, chunk_index: chunk };
  return { source, uri, hash, ...where, title, snippet, date, origin, relevance, why };
}

/** The best hits that fit, but at least one: an empty answer would mean that there are none. */
function withinBudget(hits: readonly FoundHit[], budget: number | undefined): FoundHit[] {
  if (budget === undefined) return [...hits];
  const kept: FoundHit[] = [];
  let spent = 0;
  for (const hit of hits) {
    spent += estimateTokens(JSON.stringify(shown(hit)));
    if (spent > budget && kept.length > 0) break;
    kept.push(hit);
  }
  return kept;
}
