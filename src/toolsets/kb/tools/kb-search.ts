import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { Engine, EngineSearchAnswer } from '../../../engine/engine.ts';
import { rerankingField } from '../../../search/reranking/reranker.ts';
import { answerRoom, fitItems } from '../../../tools/answer-limit.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { type Budgeted, budgetInput, fitBudget } from '../../../tools/token-budget.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { weakHint } from '../../../tools/weak-hint.ts';
import { collectionInput, tagListInput, tagsToMatch } from '../collections.ts';
import { nothingFound } from '../empty-hint.ts';
import { docTypeInput, queryInput } from '../kb-parts.ts';
import { checkCollection } from '../overview.ts';
import { type ShownHit, showHit } from '../shapes.ts';

export function createKbSearchTool(engine: Pick<Engine, 'documents' | 'search' | 'tagOverview'>): Tool {
  return defineTool({
    name: 'kb_search',
    title: 'Search the knowledge base',
    description:
      'Finds chunks of documents and notes by words and meaning, best first. For a complex question search with 2–3 phrasings, merge by chunk_id without duplicates, and rank them yourself. kb_get returns whole documents.',
    effect: 'read',
    found: { list: 'results', title: 'title' },
    input: z.object({
      query: queryInput,
      top: z.int().min(1).max(100).default(10),
      collection: collectionInput.optional(),
      tags: tagListInput.optional().describe('All of these.'),
      doc_type: docTypeInput.optional().describe('Such as note, pdf, markdown, code.'),
      fts_only: z.boolean().default(false).describe('Words only.'),
      vec_only: z.boolean().default(false).describe('Meaning only.'),
      threshold: z.number().min(0).max(1).optional().describe('Leave out lower relevance.'),
      include_weak: z.boolean().optional().describe('Also what hardly fits.'),
      neighbours: z.int().min(0).max(5).default(0).describe('Chunks before and after each hit.'),
      ...budgetInput,
    }),
    output: freeAnswer(
      'query, results, total_matches, returned, weak_omitted?, reranking?, degraded?, budget?, truncated?, omitted?, hint?',
    ),
    async run(input, call) {
      const { signal } = call;
      if (input.fts_only && input.vec_only) {
        throw new CarrelError(
          'invalid_arguments',
          'fts_only and vec_only exclude each other. Leave both out for both.',
        );
      }
      const tags = tagsToMatch(input);
      const answer = await engine.search(
        {
          query: input.query,
          top: input.top,
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
      const hits = answer.results.map(showHit);
      const held = fitItems(hits, answerRoom(call));
      const { items, report } = fitBudget(held, input.budget_tokens, shape);
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
        ...leftOut(hits.slice(held.length)),
      };
    },
  });
}

function weakFields({ results, weak_omitted: omitted }: EngineSearchAnswer) {
  if (omitted === undefined) return {};
  return { weak_omitted: omitted, ...(results.length === 0 ? { hint: weakHint(omitted, 'chunk', 'chunks') } : {}) };
}

function leftOut(hits: readonly ShownHit[]) {
  if (hits.length === 0) return {};
  return {
    truncated: true,
    omitted: hits.map(({ document_id, chunk_id, chunk_index }) => ({ document_id, chunk_id, chunk_index })),
    hint: 'The answer is full. Ask with fewer neighbours, or read what was omitted: kb_get(document_id, first_chunk=chunk_index, max_chunks=1).',
  };
}

const shape: Budgeted<ShownHit, number | string> = {
  id: (hit) => hit.chunk_id,
  text: (hit) => hit.text,
  withText: (hit, text) => ({ ...hit, text, range: [0, text.length] }),
  next: (hit) => `kb_get(document_id=${hit.document_id}, first_chunk=${hit.chunk_index}, max_chunks=1)`,
};
