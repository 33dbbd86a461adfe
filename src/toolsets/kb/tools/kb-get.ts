import * as z from 'zod';
import { fitItems, itemBytesMax } from '../../../answers/answer-limit.ts';
import { type BudgetRules, fitBudget } from '../../../answers/token-budget.ts';
import { estimateTokens } from '../../../answers/token-estimate.ts';
import { CarrelError } from '../../../base/errors.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';
import { nextChunk, partsAfter } from '../../../engine/document-parts.ts';
import type { Engine, EngineCall, EngineChunk, EngineDocumentWithChunks } from '../../../engine/engine.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { documentIdInput, sourcePathInput } from '../inputs/document-inputs.ts';
import { type ChunkLocation, outlineOf } from '../shapes/outline.ts';
import { documentFields, showDocument } from '../shapes/shapes.ts';

/** Default number of chunks per answer. */
const chunksDefault = 500;
const budgetDefault = 8_000;
/** Max share of the budget for the outline. */
const outlineShare = 0.25;
/** Min tokens for chunks, so that every call returns some text. */
const chunkTokensMin = 200;
const documentsMax = 100;

export function createKbGetTool(engine: Pick<Engine, 'document' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_get',
    title: 'Get a document',
    description:
      'Returns a document by document_id, in chunks, or lists documents by source_path. A long document starts with an outline (pages, headings, chunk_index); `next` is the call for the rest.',
    effect: 'read',
    input: z.object({
      document_id: documentIdInput.optional(),
      source_path: sourcePathInput.optional(),
      first_chunk: z.int().min(0).default(0),
      max_chunks: z.int().min(0).max(10_000).default(chunksDefault),
      budget_tokens: z.int().min(100).max(1_000_000).default(budgetDefault),
    }),
    output: looseOutput(`${documentFields}, outline?, chunks, next?, budget?; or documents, total`),
    async run({ document_id: id, source_path: sourcePath, ...page }, call) {
      const { signal } = call;
      if ((id === undefined) === (sourcePath === undefined)) {
        throw new CarrelError('invalid_arguments', 'Give either document_id or source_path.');
      }
      if (id !== undefined) return getOne(engine, id, { ...page, bytesMax: itemBytesMax(call) }, { signal });
      const request = { source_path: sourcePath, limit: documentsMax };
      const { documents, total } = await engine.documents(request, { signal });
      const shown = fitTokens(documents.map(showDocument), page.budget_tokens);
      return { documents: fitItems(shown, itemBytesMax(call)), total };
    },
  });
}

/** Returns the first items that fit, at least one. */
function fitTokens<Item extends object>(items: readonly Item[], budget: number): Item[] {
  let used = 0;
  return items.filter((item, index) => {
    used += estimateTokens(JSON.stringify(item));
    return index === 0 || used <= budget;
  });
}

interface Page {
  first_chunk: number;
  max_chunks: number;
  budget_tokens: number;
  /** Max bytes for outline and chunks. */
  bytesMax: number;
}

async function getOne(engine: Pick<Engine, 'document'>, id: number, page: Page, options: EngineCall) {
  const part = await engine.document(id, { ...options, first_chunk: page.first_chunk, bytesMax: page.bytesMax });
  const { chunks, chunks_left: chunksLeft = 0, ...document } = part;
  const header = showDocument({ ...document, chunk_count: document.chunk_count ?? chunks.length });
  const tokensLeft = page.budget_tokens - estimateTokens(JSON.stringify(header));
  const fitsBudget =
    chunksLeft === 0 && fitBudget(chunks, tokensLeft, chunkBudgetRules(id)).items.length === chunks.length;
  const isLong = page.first_chunk === 0 && !fitsBudget;
  const outline = isLong ? outlineOf(await locateChunks(engine, part, options), page.budget_tokens * outlineShare) : [];
  const tokensForChunks = Math.max(
    chunkTokensMin,
    tokensLeft - (outline.length === 0 ? 0 : estimateTokens(JSON.stringify(outline))),
  );

  const fitting = fitItems(chunks.slice(0, page.max_chunks), page.bytesMax - wireBytes(outline, 2));
  const { items, report } = fitBudget(fitting, tokensForChunks, chunkBudgetRules(id));
  const truncated = items.length === 1 ? (report.budget?.cut ?? []) : [];
  // Returns whole chunks, unless the first one alone does not fit.
  const shown =
    truncated.length === 0 && items.at(-1)?.text !== fitting[items.length - 1]?.text ? items.slice(0, -1) : items;
  const hasMore = shown.length < chunks.length || chunksLeft > 0;
  const next = hasMore ? nextChunk(shown, page.first_chunk) : undefined;
  const omitted = fitting.length - shown.length;
  const used = estimateTokens(JSON.stringify([header, outline, shown]));
  return {
    ...header,
    ...(outline.length === 0 ? {} : { outline }),
    chunks: shown.map(({ id: chunkId, chunk_index, text, chunk_metadata }) => ({
      chunk_id: chunkId,
      chunk_index,
      text,
      chunk_metadata,
    })),
    ...(next === undefined ? {} : { next: `kb_get(document_id=${id}, first_chunk=${next})` }),
    ...(omitted + truncated.length === 0
      ? {}
      : { budget: { budget_tokens: page.budget_tokens, used_tokens: used, omitted_chunks: omitted, cut: truncated } }),
  };
}

/** Returns the location of each chunk, without the text of the later parts. */
async function locateChunks(
  engine: Pick<Engine, 'document'>,
  part: EngineDocumentWithChunks,
  options: EngineCall,
): Promise<ChunkLocation[]> {
  const locations: ChunkLocation[] = [...part.chunks];
  for await (const { chunks } of partsAfter(engine, part, options)) {
    locations.push(...chunks.map(({ chunk_index, chunk_metadata }) => ({ chunk_index, chunk_metadata })));
  }
  return locations;
}

function chunkBudgetRules(documentId: number): BudgetRules<EngineChunk, number | string> {
  return {
    id: (chunk) => chunk.id,
    text: (chunk) => chunk.text,
    withText: (chunk, text) => ({ ...chunk, text }),
    next: ({ chunk_index: index }) => `kb_get(document_id=${documentId}, first_chunk=${index}, max_chunks=1)`,
  };
}
