import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { documentIdInput, noteInput } from '../kb-parts.ts';
import { documentOutput, showDocument } from '../shapes/shapes.ts';

export function createKbUpdateNoteTool(engine: Pick<Engine, 'updateNote'>): Tool {
  return defineTool({
    name: 'kb_update_note',
    title: 'Update a note',
    description: 'Replaces the text of a note; its id, tags and collection stay. Files cannot be updated.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, text: noteInput }),
    output: documentOutput,
    run: async ({ document_id: id, text }, { signal }) => showDocument(await engine.updateNote(id, text, { signal })),
  });
}
