import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bulkOutput, readSelection, selectionInput, showBulk } from '../bulk-selection.ts';

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: 'Deletes the documents that match all given conditions, for good.',
    effect: 'change',
    input: z.object(selectionInput),
    output: bulkOutput,
    run: async (input, { signal }) => showBulk(await engine.bulkDelete(readSelection(input), { signal })),
  });
}
