import * as z from 'zod';
import { explainInput, rounded, weakHint } from '../../../answers/explain.ts';
import { type Budgeted, fitBudget } from '../../../answers/token-budget.ts';
import { type Reranker, rerankingField } from '../../../search/rerank/reranker.ts';
import { originField } from '../../../tools/origin.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { boundedText } from '../../../tools/text-input.ts';
import { defineTool, freeAnswer, type Tool } from '../../../tools/tool.ts';
import { askSources, type SourceReport } from '../ask-sources.ts';
import { byRelevance, type FoundHit, judgeHits } from '../rank-hits.ts';

const sourceTimeoutMs = 30_000;

export function createFindTool(sources: readonly SearchSource[], reranker: Reranker): Tool {
  const names = sources.map(({ name }) => name);
  const usual = sources.filter(({ searchedByDefault }) => searchedByDefault).map(({ name }) => name);
  const known = sources.map(({ name, description }) => `${name} (${description})`).join(', ');
  return defineTool({
    name: 'find',
    title: 'Find in every source',
    description: `Searches several sources at once; returns one list, best first. Start here. Sources: ${known}. The answer's sources field tells failed sources from empty ones.`,
    effect: 'read',
    found: { list: 'results', title: 'title' },
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
      include_weak: z.boolean().optional().describe('Include low-relevance results.'),
      ...explainInput,
    }),
    output: freeAnswer('query, results, sources, omitted, weak_omitted?, hint?, reranking?, budget?'),
    async run(
      { query, sources: named, limit, budget_tokens: budget, include_weak: includesWeak = false, explain },
      call,
    ) {
      const wanted = new Set<string>(named ?? usual);
      const question = { query, limit, includesWeak, wanted, timeoutMs: sourceTimeoutMs };
      const asked = await askSources(sources, question, call);
      const judged = await judgeHits(asked.lists, { query, includesWeak, signal: call.signal }, reranker);
      const ordered = byRelevance(judged.hits);
      const hits = ordered.slice(0, limit).map(explain ? explained : plain);
      const { items: results, report } = fitBudget(hits, budget, shape);
      const weak = asked.omitted + judged.omitted;
      const reranking = asked.reranking ?? judged.reranking;
      return {
        query,
        results,
        sources: asked.reports,
        omitted: ordered.length - results.length,
        ...(weak > 0 ? { weak_omitted: weak } : {}),
        ...(results.length === 0 ? { hint: emptyHint(asked.reports, weak) } : {}),
        ...rerankingField(reranking),
        ...shortened(report),
      };
    },
  });
}

/**
 * Returns the budget report if results were truncated. The answer's `omitted` field counts results that were left
 * out.
 */
function shortened({ budget }: ReturnType<typeof fitBudget>['report']) {
  if (budget === undefined || (budget.cut.length === 0 && budget.hint === undefined)) return {};
  const { omitted_ids: _, ...rest } = budget;
  return { budget: rest };
}

/** Explains an empty result and suggests what to do. */
function emptyHint(reports: readonly SourceReport[], weak: number): string {
  if (weak > 0) return weakHint(weak, 'hit', 'hits');
  const named = (...states: SourceReport['status'][]): string =>
    reports.flatMap(({ source, status }) => (states.includes(status) ? [source] : [])).join(', ');
  const [failed, skipped] = [named('failed'), named('skipped')];
  if (failed !== '') return `Nothing was found, but these sources failed: ${failed}. Try again later.`;
  const others = skipped === '' ? '' : `, or other sources (${skipped})`;
  return `Nothing relevant in ${named('searched', 'degraded')}. Try other words${others}.`;
}

function plain(hit: FoundHit) {
  const { source, uri, title, snippet, relevance, date, place, chunk_index: chunk = 0, origin } = hit;
  const { replaces, replaced_by: replacedBy } = hit;
  return {
    source,
    uri,
    title,
    snippet,
    relevance,
    ...(replaces === undefined ? {} : { replaces }),
    ...(replacedBy === undefined ? {} : { replaced_by: replacedBy }),
    ...(date === null ? {} : { date }),
    ...(place === undefined ? {} : { place }),
    ...(chunk === 0 ? {} : { chunk_index: chunk }),
    ...originField(origin),
  };
}

function explained(hit: FoundHit) {
  const { hash, range, chunk_index: chunk, why, scores = {} } = hit;
  return {
    ...plain(hit),
    ...(chunk === undefined ? {} : { chunk_index: chunk }),
    ...(hash === null ? {} : { hash }),
    ...(range === null ? {} : { range }),
    why,
    scores: rounded(scores),
  };
}

const shape: Budgeted<ReturnType<typeof plain>, string> = {
  id: ({ uri }) => uri,
  text: ({ snippet }) => snippet,
  withText: (hit, snippet) => ({ ...hit, snippet }),
  next: ({ uri }) => `the resource ${uri}`,
};

/**
 * Creates the search of the web console: `find` with filters. With `words_only`, it gives a quick first answer
 * without models.
 */
export function createFindFilteredTool(sources: readonly SearchSource[], reranker: Reranker): Tool {
  const usual = sources.filter(({ searchedByDefault }) => searchedByDefault).map(({ name }) => name);
  const name = boundedText({ required: true, max: 200 }).optional();
  return defineTool({
    name: 'find_filtered',
    title: 'Find with filters',
    description: 'Searches like find, by collection, type and tag, or by words alone.',
    effect: 'read',
    found: { list: 'results', title: 'title' },
    openWorld: true,
    input: z.object({
      query: boundedText({ required: true, max: 1000, trim: true }),
      source: name,
      collection: name,
      type: name,
      tag: name,
      limit: z.int().min(1).max(50).default(30),
      include_weak: z.boolean().default(false),
      words_only: z.boolean().default(false),
    }),
    output: freeAnswer('results, sources, weak_omitted?, hint?, reranking?'),
    async run({ query, source, collection, type, tag, limit, include_weak: includesWeak, words_only: isQuick }, call) {
      const wanted = new Set(source === undefined ? usual : [source]);
      const filters = { collection, type, tag };
      const question = { query, limit, includesWeak, wanted, filters, isQuick, timeoutMs: sourceTimeoutMs };
      const asked = await askSources(sources, question, call);
      const judged = await judgeHits(asked.lists, { query, includesWeak, signal: call.signal }, reranker);
      const results = byRelevance(judged.hits).slice(0, limit).map(labelled);
      const weak = asked.omitted + judged.omitted;
      return {
        results,
        sources: asked.reports,
        ...(weak > 0 ? { weak_omitted: weak } : {}),
        ...(results.length === 0 ? { hint: emptyHint(asked.reports, weak) } : {}),
        ...rerankingField(asked.reranking ?? judged.reranking),
      };
    },
  });
}

function labelled(hit: FoundHit) {
  const { collection, type, tags = [] } = hit;
  return {
    ...explained(hit),
    ...(collection === undefined ? {} : { collection }),
    ...(type === undefined ? {} : { type }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}
