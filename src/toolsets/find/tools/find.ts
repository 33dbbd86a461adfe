import * as z from 'zod';
import { explainInput, rounded, weakHint } from '../../../answers/explain.ts';
import { type BudgetRules, fitBudget } from '../../../answers/token-budget.ts';
import { type Reranker, rerankingField } from '../../../search/rerank/reranker.ts';
import type { Call } from '../../../tools/call.ts';
import { originField } from '../../../tools/origin.ts';
import type { SearchSource, SourceQuestion } from '../../../tools/search-source.ts';
import { boundedText } from '../../../tools/text-input.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { askSources, type SourceReport } from '../ask-sources.ts';
import { type FoundHit, mergeByRelevance, scoreHits } from '../rank-hits.ts';

const sourceTimeoutMs = 30_000;

export function createFindTool(sources: readonly SearchSource[], reranker: Reranker): Tool {
  const names = sources.map(({ name }) => name);
  const descriptions = sources.map(({ name, description }) => `${name} (${description})`).join(', ');
  return defineTool({
    name: 'find',
    title: 'Find in every source',
    description: `Searches several sources at once; returns one list, best first. Start here. Sources: ${descriptions}. The sources field of the answer distinguishes failed sources from empty ones.`,
    effect: 'read',
    resultFields: { list: 'results', title: 'title' },
    openWorld: true,
    input: z.object({
      query: queryInput,
      sources: z
        .array(z.enum(names))
        .min(1)
        .optional()
        .describe(`Default: ${defaultSources(sources).join(', ')}.`),
      limit: z.int().min(1).max(50).default(10),
      budget_tokens: z.int().min(50).max(100_000).optional(),
      include_weak: z.boolean().optional().describe('Include low-relevance results.'),
      ...explainInput,
    }),
    output: looseOutput('query, results, sources, omitted, weak_omitted?, hint?, reranking?, budget?'),
    async run(input, call) {
      const { query, limit, budget_tokens: budget, include_weak: includesWeak = false, explain } = input;
      const request = { query, limit, includesWeak, names: input.sources };
      const { hits, ...found } = await searchAll(sources, reranker, request, call);
      const { items: results, report } = fitBudget(
        hits.slice(0, limit).map(explain ? explainHit : showHit),
        budget,
        budgetedHit,
      );
      return {
        query,
        results,
        omitted: hits.length - results.length,
        ...answerFields(found, results),
        ...budgetField(report),
      };
    },
  });
}

/** Creates the search of the web console: `find` with filters. `words_only` returns a quick first answer. */
export function createFindFilteredTool(sources: readonly SearchSource[], reranker: Reranker): Tool {
  const name = boundedText({ required: true, max: 200 }).optional();
  return defineTool({
    name: 'find_filtered',
    title: 'Find with filters',
    description: 'Searches like find, filtered by collection, type and tag, or by words alone.',
    effect: 'read',
    resultFields: { list: 'results', title: 'title' },
    openWorld: true,
    input: z.object({
      query: queryInput,
      source: name,
      collection: name,
      type: name,
      tag: name,
      limit: z.int().min(1).max(50).default(30),
      include_weak: z.boolean().default(false),
      words_only: z.boolean().default(false),
    }),
    output: looseOutput('results, sources, weak_omitted?, hint?, reranking?'),
    async run({ query, source, limit, include_weak: includesWeak, words_only: wordsOnly, ...filters }, call) {
      const request = {
        query,
        limit,
        includesWeak,
        names: source === undefined ? undefined : [source],
        filters,
        wordsOnly,
      };
      const { hits, ...found } = await searchAll(sources, reranker, request, call);
      const results = hits.slice(0, limit).map(showHitWithLabels);
      return { results, ...answerFields(found, results) };
    },
  });
}

const queryInput = boundedText({ required: true, max: 1000, trim: true });

function defaultSources(sources: readonly SearchSource[]): string[] {
  return sources.filter(({ searchedByDefault }) => searchedByDefault).map(({ name }) => name);
}

/** Searches the named or the default sources. Returns their hits in one list, best first. */
async function searchAll(
  sources: readonly SearchSource[],
  reranker: Reranker,
  { names = defaultSources(sources), ...request }: SourceQuestion & { names: readonly string[] | undefined },
  call: Call,
) {
  const question = { ...request, names: new Set(names), timeoutMs: sourceTimeoutMs };
  const answers = await askSources(sources, question, call);
  const scored = await scoreHits(answers.lists, { ...request, signal: call.signal }, reranker);
  return {
    hits: mergeByRelevance(scored.hits),
    reports: answers.reports,
    weak: answers.omitted + scored.omitted,
    reranking: answers.reranking ?? scored.reranking,
  };
}

/** Returns the fields of an answer besides its results. */
function answerFields(
  { reports, weak, reranking }: Omit<Awaited<ReturnType<typeof searchAll>>, 'hits'>,
  results: readonly unknown[],
) {
  return {
    sources: reports,
    ...(weak > 0 ? { weak_omitted: weak } : {}),
    ...(results.length === 0 ? { hint: emptyHint(reports, weak) } : {}),
    ...rerankingField(reranking),
  };
}

/** Returns the budget report if results were truncated, without the omitted ids: `omitted` counts them. */
function budgetField({ budget }: ReturnType<typeof fitBudget>['report']) {
  if (budget === undefined || (budget.cut.length === 0 && budget.hint === undefined)) return {};
  const { omitted_ids: _, ...fields } = budget;
  return { budget: fields };
}

/** Explains an empty result and suggests what to do. */
function emptyHint(reports: readonly SourceReport[], weak: number): string {
  if (weak > 0) return weakHint(weak, 'hit', 'hits');
  const sourcesWith = (...states: SourceReport['status'][]): string =>
    reports.flatMap(({ source, status }) => (states.includes(status) ? [source] : [])).join(', ');
  const [failed, skipped] = [sourcesWith('failed'), sourcesWith('skipped')];
  if (failed !== '') return `Nothing was found, but these sources failed: ${failed}. Try again later.`;
  const searched = sourcesWith('searched', 'degraded');
  if (searched === '')
    return 'None of the chosen sources supports these filters. Remove filters, or choose other sources.';
  const otherSources = skipped === '' ? '' : `, or other sources (${skipped})`;
  return `Nothing relevant in ${searched}. Try other words${otherSources}.`;
}

function showHit(hit: FoundHit) {
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

function explainHit(hit: FoundHit) {
  const { hash, range, chunk_index: chunk, why, scores = {} } = hit;
  return {
    ...showHit(hit),
    ...(chunk === undefined ? {} : { chunk_index: chunk }),
    ...(hash === null ? {} : { hash }),
    ...(range === null ? {} : { range }),
    why,
    scores: rounded(scores),
  };
}

const budgetedHit: BudgetRules<ReturnType<typeof showHit>, string> = {
  id: ({ uri }) => uri,
  text: ({ snippet }) => snippet,
  withText: (hit, snippet) => ({ ...hit, snippet }),
  next: ({ uri }) => `the resource ${uri}`,
};

function showHitWithLabels(hit: FoundHit) {
  const { collection, type, tags = [] } = hit;
  return {
    ...explainHit(hit),
    ...(collection === undefined ? {} : { collection }),
    ...(type === undefined ? {} : { type }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}
