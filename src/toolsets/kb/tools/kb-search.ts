import * as z from 'zod';
import { fitItems, itemBytesMax } from '../../../answers/answer-limit.ts';
import { explainInput, weakHint } from '../../../answers/explain.ts';
import { type BudgetRules, budgetInput, fitBudget } from '../../../answers/token-budget.ts';
import { CarrelError } from '../../../base/errors.ts';
import type { Engine, EngineHit, EngineSearchAnswer } from '../../../engine/engine.ts';
import { rerankingField } from '../../../search/rerank/reranker.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { collectionInput, tagListInput, tagsToMatch } from '../inputs/collections.ts';
import { docTypeInput, queryInput } from '../inputs/document-inputs.ts';
import { checkCollection, nothingFound } from '../shapes/hints.ts';
import { documentUriPrefix, explainHit, type ShownHit, showHit } from '../shapes/shapes.ts';

/** Default number of results. */
const resultsDefault = 5;

export function createKbSearchTool(engine: Pick<Engine, 'documents' | 'search' | 'tags'>): Tool {
  return defineTool({
    name: 'kb_search',
    title: 'Search the knowledge base',
    description:
      'Searches documents and notes in the knowledge base by words and meaning; returns passages, best first. For a complex question, search with 2–3 phrasings and merge by chunk_id. To read more: kb_get(document_id, first_chunk=chunk_index).',
    effect: 'read',
    resultFields: { list: 'results', title: 'title', id: { field: 'document_id', prefix: documentUriPrefix } },
    input: z.object({
      query: queryInput,
      limit: z.int().min(1).max(100).optional().describe(`Max results; default ${resultsDefault}.`),
      top: z.int().min(1).max(100).optional().describe('Same as limit.'),
      collection: collectionInput.optional(),
      tags: tagListInput.optional().describe('Only documents with all of these tags.'),
      doc_type: docTypeInput.optional().describe('Such as note, pdf, markdown, code.'),
      fts_only: z.boolean().default(false).describe('Words only.'),
      vec_only: z.boolean().default(false).describe('Meaning only.'),
      threshold: z.number().min(0).max(1).optional().describe('Min relevance, 0 to 1.'),
      include_weak: z.boolean().optional().describe('Include low-relevance results.'),
      neighbours: z.int().min(0).max(5).default(0).describe('Chunks to add before and after each result.'),
      ...explainInput,
      ...budgetInput,
    }),
    output: looseOutput(
      'query, results, total_matches, returned, weak_omitted?, reranking?, degraded?, budget?, truncated?, omitted?, hint?',
    ),
    async run(input, call) {
      const { signal } = call;
      if (input.fts_only && input.vec_only) {
        throw new CarrelError(
          'invalid_arguments',
          'fts_only and vec_only exclude each other. Omit both to search by words and meaning.',
        );
      }
      const tags = tagsToMatch(input);
      const answer = await engine.search(
        {
          query: input.query,
          top: input.limit ?? input.top ?? resultsDefault,
          tags,
          doc_type: input.doc_type,
          fts_only: input.fts_only,
          vec_only: input.vec_only,
          threshold: input.threshold,
          ...(input.include_weak ? { include_weak: true } : {}),
          neighbours: input.neighbours === 0 ? undefined : input.neighbours,
        },
        { signal },
      );
      const isEmpty = answer.results.length === 0;
      if (isEmpty) await checkCollection(engine, tags, { signal });
      const { doc_type: type, fts_only: ftsOnly, threshold } = input;
      const hint =
        isEmpty && answer.weak_omitted === undefined
          ? await nothingFound(engine, { tags, type, ftsOnly, threshold }, { signal })
          : undefined;
      // Hits with neighbours or an explanation are not merged, because both belong to one chunk.
      const mergesHits = !input.explain && input.neighbours === 0;
      const hits = mergesHits ? mergeHits(answer.results) : answer.results.map(input.explain ? explainHit : showHit);
      const fitting = fitItems(hits, itemBytesMax(call));
      const { items, report } = fitBudget(fitting, input.budget_tokens, budgetAdapter);
      return {
        query: answer.query,
        results: items,
        total_matches: answer.total_matches,
        returned: items.length,
        ...weakFields(answer),
        ...(hint === undefined ? {} : { hint }),
        ...rerankingField(answer.reranking),
        ...(answer.degraded === undefined ? {} : { degraded: answer.degraded }),
        ...report,
        ...omittedFields(hits.slice(fitting.length)),
      };
    },
  });
}

function weakFields({ results, weak_omitted: omitted }: EngineSearchAnswer) {
  if (omitted === undefined) return {};
  return { weak_omitted: omitted, ...(results.length === 0 ? { hint: weakHint(omitted, 'chunk', 'chunks') } : {}) };
}

function omittedFields(hits: readonly MergedHit[]) {
  if (hits.length === 0) return {};
  return {
    truncated: true,
    omitted: hits.map(({ document_id, chunk_id, chunk_index }) => ({ document_id, chunk_id, chunk_index })),
    hint: 'The answer is full. Ask for fewer neighbours, or read omitted passages: kb_get(document_id, first_chunk=chunk_index, max_chunks=1).',
  };
}

const budgetAdapter: BudgetRules<MergedHit, number | string> = {
  id: (hit) => hit.chunk_id,
  text: (hit) => hit.text,
  withText: (hit, text) => ({ ...hit, text, ...(hit.range ? { range: [0, text.length] as [number, number] } : {}) }),
  next: ({ document_id: id, chunk_index: first, chunk_indexes: indexes }) =>
    `kb_get(document_id=${id}, first_chunk=${first}, max_chunks=${indexes?.length ?? 1})`,
};

type MergedHit = ShownHit & {
  /** Indexes of the two chunks of a merged hit. */
  chunk_indexes?: [number, number];
};

/** Merges two hits on consecutive chunks into one, at the rank of the better one. */
function mergeHits(hits: readonly EngineHit[]): MergedHit[] {
  const shown: { hit: EngineHit; merged?: EngineHit }[] = [];
  for (const hit of hits) {
    const neighbour = shown.find(({ hit: other, merged }) => merged === undefined && areNeighbours(hit, other));
    if (neighbour === undefined) shown.push({ hit });
    else neighbour.merged = hit;
  }
  return shown.map(({ hit, merged }) => (merged === undefined ? showHit(hit) : showMerged(hit, merged)));
}

function areNeighbours(one: EngineHit, other: EngineHit): boolean {
  return (
    one.document_id !== null &&
    one.document_id === other.document_id &&
    Math.abs(one.chunk_index - other.chunk_index) === 1
  );
}

function showMerged(better: EngineHit, other: EngineHit): MergedHit {
  const [first, second] = better.chunk_index < other.chunk_index ? [better, other] : [other, better];
  const { line_end: end } = second.chunk_metadata;
  return {
    ...showHit({
      ...better,
      chunk_index: first.chunk_index,
      text: `${first.text}\n\n${second.text}`,
      chunk_metadata: { ...first.chunk_metadata, ...(end === undefined ? {} : { line_end: end }) },
    }),
    chunk_indexes: [first.chunk_index, second.chunk_index],
  };
}
