import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { Engine, EngineCall, EngineChunk } from '../../../engine/engine.ts';
import { type Budgeted, type BudgetReport, budgetInput, fitBudget } from '../../../tools/token-budget.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { documentIdInput, sourcePathInput } from '../kb-parts.ts';
import { showDocument } from '../shapes.ts';

/** Chunks in one answer, by default. */
const chunksDefault = 500;
const documentsMax = 100;

export function createKbGetTool(engine: Pick<Engine, 'document' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_get',
    title: 'Get a document',
    description:
      'Returns a document with its chunks by document_id, or lists the documents that came from a source_path.',
    effect: 'read',
    input: z.object({
      document_id: documentIdInput.optional(),
      source_path: sourcePathInput.optional(),
      first_chunk: z.int().min(0).default(0),
      max_chunks: z.int().min(0).max(10_000).default(chunksDefault),
      ...budgetInput,
    }),
    output: z.looseObject({ document_id: z.int().optional(), documents: z.array(z.unknown()).optional() }),
    async run({ document_id: id, source_path: sourcePath, ...page }, { signal }) {
      if ((id === undefined) === (sourcePath === undefined)) {
        throw new CarrelError('invalid_arguments', 'Give either document_id or source_path.');
      }
      if (id !== undefined) return getOne(engine, id, page, { signal });
      const request = { source_path: sourcePath, limit: documentsMax };
      const { documents, total } = await engine.documents(request, { signal });
      return { documents: documents.map(showDocument), total };
    },
  });
}

interface Page {
  first_chunk: number;
  max_chunks: number;
  budget_tokens?: number | undefined;
}

async function getOne(engine: Pick<Engine, 'document'>, id: number, page: Page, options: EngineCall) {
  const { chunks, ...document } = await engine.document(id, options);
  const later = chunks.filter(({ chunk_index: index }) => index >= page.first_chunk);
  const { items, report } = fitBudget(later.slice(0, page.max_chunks), page.budget_tokens, shapeFor(id));
  const next = later[items.length]?.chunk_index;
  return {
    ...showDocument({ ...document, chunk_count: document.chunk_count ?? chunks.length }),
    chunks: items.map(({ id: chunkId, chunk_index, text, chunk_metadata }) => ({
      chunk_id: chunkId,
      chunk_index,
      text,
      chunk_metadata,
    })),
    ...(next === undefined ? {} : { next: `kb_get(document_id=${id}, first_chunk=${next})` }),
    ...(report.budget === undefined ? {} : { budget: countedReport(report.budget) }),
  };
}

/** `next` continues where the chunks end; listing the ids of the others would only use up the budget. */
function countedReport({ omitted_ids: omitted, ...report }: BudgetReport<number | string>) {
  return { ...report, omitted_chunks: omitted.length };
}

function shapeFor(documentId: number): Budgeted<EngineChunk, number | string> {
  return {
    id: (chunk) => chunk.id,
    text: (chunk) => chunk.text,
    withText: (chunk, text) => ({ ...chunk, text }),
    next: ({ chunk_index: index }) => `kb_get(document_id=${documentId}, first_chunk=${index}, max_chunks=1)`,
  };
}
