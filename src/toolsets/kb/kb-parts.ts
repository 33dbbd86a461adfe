import * as z from 'zod';
import type { Engine, EngineCall, SubmitOutcome } from '../../engine/engine.ts';
import { boundedText } from '../../tools/bounded-text.ts';
import { collectionInput, tagListInput } from './collections.ts';
import { showOutcome } from './shapes.ts';

export const documentIdInput = z.int().min(1);
export const titleInput = boundedText({ max: 300, trim: true, required: true });
export const docTypeInput = boundedText({ max: 60, trim: true, required: true });
export const sourcePathInput = boundedText({ max: 1000, required: true });

/** Where something new goes. */
export const filingInput = {
  collection: collectionInput.optional().describe('Default: documents.'),
  tags: tagListInput.optional(),
  title: titleInput.optional(),
  source_path: sourcePathInput.optional().describe('Where it comes from; kb_get finds it by this.'),
};

/** A duplicate is told with the collection and tags that it has. */
export async function describeOutcome(
  engine: Pick<Engine, 'document'>,
  outcome: SubmitOutcome,
  tags: readonly string[],
  options: EngineCall,
) {
  const id = outcome.accepted ? undefined : outcome.document_id;
  return showOutcome(outcome, tags, id === undefined ? undefined : await engine.document(id, options));
}
