import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { documentIdInput } from '../kb-parts.ts';

export function createKbDeleteTool(engine: Pick<Engine, 'deleteDocument'>): Tool {
  return defineTool({
    name: 'kb_delete',
    title: 'Delete a document',
    description: 'Deletes a document or note for good.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput }),
    output: freeAnswer('status, document_id, title'),
    run: async ({ document_id: id }, { signal }) => ({ ...(await engine.deleteDocument(id, { signal })) }),
  });
}
