import * as z from 'zod';
import type { Reranker } from '../../../search/rerank/reranker.ts';
import { rerankingField } from '../../../search/rerank/reranker.ts';
import { boundedText } from '../../../tools/bounded-text.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { askSources } from '../ask-sources.ts';
import { byRelevance, type FoundHit } from '../by-relevance.ts';
import { judgeHits } from '../judge-hits.ts';
import { emptyHint, explained, sourceTimeoutMs } from './find.ts';

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
