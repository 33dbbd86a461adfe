import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { askToRemove, hasAgreed, unaskedIdsMax } from '../../../tools/question.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bulkOutput, readSelection, selectionInput, showBulk } from '../bulk-selection.ts';
import { lookAtSelection } from '../look-at-selection.ts';

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: 'Deletes the documents that match all given conditions, for good.',
    effect: 'change',
    input: z.object(selectionInput),
    output: bulkOutput,
    async questions(input, { signal }) {
      const selection = readSelection(input);
      if ((selection.document_ids?.length ?? Number.POSITIVE_INFINITY) <= unaskedIdsMax) return undefined;
      const { count, titles } = await lookAtSelection(engine, selection, { signal });
      return count === 0 ? undefined : askToRemove(['document', 'documents'], count, titles);
    },
    async run(input, { signal, answers }) {
      const force = hasAgreed(answers) ?? input.force;
      return showBulk(await engine.bulkDelete({ ...readSelection(input), force }, { signal }));
    },
  });
}
