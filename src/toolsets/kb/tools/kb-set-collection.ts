import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { setCollection } from '../actions/set-collection.ts';
import { collectionInput } from '../inputs/collections.ts';
import { documentIdInput } from '../kb-parts.ts';
import { documentOutput, showDocument } from '../shapes/shapes.ts';

export function createKbSetCollectionTool(engine: Pick<Engine, 'documentAlone' | 'changeTags'>): Tool {
  return defineTool({
    name: 'kb_set_collection',
    title: 'Set the collection',
    description: 'Moves a document to another collection. Without collection, removes it from its own.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, collection: collectionInput.optional() }),
    output: documentOutput,
    run: async ({ document_id: id, collection }, { signal }) =>
      showDocument(await setCollection(engine, id, collection, { signal })),
  });
}
