import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { BulkOutcome, BulkSelection } from '../../../engine/engine.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { docTypeInput, documentIdInput } from '../kb-parts.ts';
import { collectionInput, tagListInput, tagsToMatch } from './collections.ts';

const idsMax = 10_000;

/** Names the conditions in tool descriptions. */
export const selected =
  'the documents that match every given condition: document_ids, collection, tags (all of them), doc_type, ids from from_id to to_id';

// Empty lists are rejected, because an engine might treat them as no condition.
export const selectionInput = {
  document_ids: z.array(documentIdInput).refine(isSome, { error: 'must have 1 to 10000 items' }).optional(),
  collection: collectionInput.optional(),
  tags: tagListInput.refine(isSome, { error: 'must have at least 1 item' }).optional(),
  doc_type: docTypeInput.optional(),
  from_id: documentIdInput.optional(),
  to_id: documentIdInput.optional(),
  force: z.boolean().default(false).describe('Proceed even if most documents match.'),
};

function isSome(items: readonly unknown[]): boolean {
  return items.length > 0 && items.length <= idsMax;
}

type Selecting = z.output<z.ZodObject<typeof selectionInput>>;

/** Reads the conditions, all of which must hold. Throws if there are none. */
export function readSelection(input: Selecting): BulkSelection {
  const { document_ids, doc_type, from_id, to_id, force } = input;
  const tags = tagsToMatch(input);
  const named = { document_ids, tags, doc_type, from_id, to_id };
  if (Object.values(named).every((value) => value === undefined)) {
    throw new CarrelError(
      'invalid_arguments',
      'Select documents with document_ids, collection, tags, doc_type, from_id or to_id.',
    );
  }
  return { ...named, force };
}

export const bulkFields = 'matched, total, changed, job_id';

export const bulkOutput = freeAnswer(bulkFields);

/** Returns only the fields that tools show. */
export function showBulk({ matched, total, changed, job_id }: BulkOutcome) {
  return { matched, total, changed, job_id };
}
