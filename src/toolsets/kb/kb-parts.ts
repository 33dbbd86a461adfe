import * as z from 'zod';
import { isBlank } from '../../base/text.ts';
import type { Engine, EngineCall, SubmitOutcome } from '../../engine/engine.ts';
import { storedText } from '../../tools/text-input.ts';
import { collectionInput, tagListInput } from './inputs/collections.ts';
import { showOutcome } from './shapes/shapes.ts';

/* Limits that ordinary callers never reach are checked, but are not in the schemas, where they would cost every client tokens. */

export const documentIdInput = z.int().refine((id) => id > 0, { error: 'must be at least 1' });
const titleInput = storedText(shortText(300));
export const docTypeInput = storedText(shortText(60)).refine((type) => !/\p{Cc}/u.test(type), {
  error: 'must not contain control characters',
});
export const sourcePathInput = storedText(shortText(1000));
export const noteInput = storedText(shortText(1_000_000));
export const queryInput = shortText(10_000);
export const pathInput = storedText(shortText(4096)).describe('Absolute path of a local file.');

function shortText(max: number) {
  return z
    .string()
    .refine((text) => !isBlank(text), { error: 'must not be blank' })
    .refine((text) => text.length <= max, { error: `must have at most ${max} characters` });
}

/** Arguments that describe a new document. */
export const filingInput = {
  collection: collectionInput.optional().describe('Default: documents.'),
  tags: tagListInput.optional(),
  title: titleInput.optional(),
  source_path: sourcePathInput.optional().describe('Where it comes from. kb_get finds it by this.'),
};

/** Describes the result of a submission. For a duplicate, includes the existing document's collection and tags. */
export async function describeOutcome(
  engine: Pick<Engine, 'documentAlone'>,
  outcome: SubmitOutcome,
  tags: readonly string[],
  options: EngineCall,
) {
  const id = outcome.accepted ? undefined : outcome.document_id;
  // The submission succeeded, so a failed lookup must not fail the call.
  const existing = id === undefined ? undefined : await engine.documentAlone(id, options).catch(() => undefined);
  return showOutcome(outcome, tags, existing);
}
