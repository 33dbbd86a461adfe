import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { documentIdInput } from '../kb-parts.ts';

export function createKbDeleteTool(engine: Pick<Engine, 'deleteDocument' | 'restoreDocument'>): Tool {
  return defineTool({
    name: 'kb_delete',
    title: 'Delete a document',
    description: 'Deletes a document or note from the knowledge base. restore: true undoes this for 30 days.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, restore: z.boolean().optional() }),
    output: freeAnswer('status, document_id, title, job_id?'),
    async run({ document_id: id, restore }, { signal }) {
      return { ...(await (restore ? engine.restoreDocument(id, { signal }) : engine.deleteDocument(id, { signal }))) };
    },
  });
}
