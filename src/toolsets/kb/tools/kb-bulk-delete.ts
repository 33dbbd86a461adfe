import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { BulkSelection, Engine, EngineCall } from '../../../engine/engine.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { agreedTo, askToRemove, unconfirmedIdsMax } from '../../../tools/question.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { previewSelection } from '../actions/preview-selection.ts';
import { bulkFields, readSelection, selected, selectionInput, showBulk } from '../inputs/bulk-selection.ts';

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: `Deletes ${selected}. dry_run shows which. kb_delete deletes one.`,
    effect: 'change',
    input: z.object({
      ...selectionInput,
      dry_run: z.boolean().default(false).describe('Only say which documents would be deleted.'),
    }),
    output: freeAnswer(`${bulkFields}; with dry_run: dry_run, matched, total, changed, document_ids, titles`),
    async questions(input, { signal }) {
      const selection = readSelection(input);
      if (input.dry_run || (selection.document_ids?.length ?? Number.POSITIVE_INFINITY) <= unconfirmedIdsMax)
        return undefined;
      const { count, titles, hash } = await previewSelection(engine, selection, { signal });
      if (count === 0) return undefined;
      return askToRemove(['document', 'documents'], count, { samples: titles, about: hash });
    },
    async run(input, { signal, asked }) {
      const selection = readSelection(input);
      if (input.dry_run) return dryRun(engine, selection, { signal });
      const agreed = agreedTo(asked);
      const deleted = agreed === undefined ? selection : await stillChosen(engine, selection, agreed, { signal });
      return showBulk(await engine.bulkDelete(deleted, { signal }));
    },
  });
}

/** Max ids that a dry run lists. */
const idsShown = 100;

async function dryRun(engine: Pick<Engine, 'documents'>, selection: BulkSelection, options: EngineCall) {
  const { count, ids = [], titles } = await previewSelection(engine, selection, options);
  const { total } = await engine.documents({ limit: 1, offset: 0 }, options);
  return { dry_run: true, matched: count, total, changed: 0, document_ids: ids.slice(0, idsShown), titles };
}

/** Selects exactly the documents that the user confirmed. Throws if the selection has changed since. */
async function stillChosen(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  agreed: string,
  options: EngineCall,
): Promise<BulkSelection> {
  const { count, ids, hash } = await previewSelection(engine, selection, options);
  if (hash === agreed) return { ...selection, document_ids: ids ?? selection.document_ids, force: true };
  throw new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is now ${count} documents. Nothing was deleted. Repeat the call to ask again.`,
  );
}
