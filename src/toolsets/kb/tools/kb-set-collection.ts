import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { collectionInput } from '../collections.ts';
import { documentIdInput } from '../kb-parts.ts';
import { setCollection } from '../set-collection.ts';
import { documentOutput, showDocument } from '../shapes.ts';

export function createKbSetCollectionTool(engine: Pick<Engine, 'documentAlone' | 'changeTags'>): Tool {
  return defineTool({
    name: 'kb_set_collection',
    title: 'Set the collection',
    description: 'Moves a document to another collection, or out of its collection if none is given.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, collection: collectionInput.optional() }),
    output: documentOutput,
    run: async ({ document_id: id, collection }, { signal }) =>
      showDocument(await setCollection(engine, id, collection, { signal })),
  });
}
