import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { BulkSelection, Engine, EngineCall } from '../../../engine/engine.ts';
import { agreedTo, askToRemove, unaskedIdsMax } from '../../../tools/question.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bulkOutput, readSelection, selectionInput, showBulk } from '../bulk-selection.ts';
import { lookAtSelection } from '../look-at-selection.ts';

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: 'Deletes the documents that match all given conditions.',
    effect: 'change',
    input: z.object(selectionInput),
    output: bulkOutput,
    async questions(input, { signal }) {
      const selection = readSelection(input);
      if ((selection.document_ids?.length ?? Number.POSITIVE_INFINITY) <= unaskedIdsMax) return undefined;
      const { count, titles, hash } = await lookAtSelection(engine, selection, { signal });
      if (count === 0) return undefined;
      return askToRemove(['document', 'documents'], count, { samples: titles, about: hash });
    },
    async run(input, { signal, asked }) {
      const selection = readSelection(input);
      const agreed = agreedTo(asked);
      const deleted = agreed === undefined ? selection : await stillChosen(engine, selection, agreed, { signal });
      return showBulk(await engine.bulkDelete(deleted, { signal }));
    },
  });
}

/** The documents that the user agreed to, and whatever their share is. What is added from now on is not among them. */
async function stillChosen(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  agreed: string,
  options: EngineCall,
): Promise<BulkSelection> {
  const { count, ids, hash } = await lookAtSelection(engine, selection, options);
  if (hash === agreed) return { ...selection, document_ids: ids ?? selection.document_ids, force: true };
  throw new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is ${count} documents now. Nothing was deleted. Repeat the call to have the user asked about them.`,
  );
}
