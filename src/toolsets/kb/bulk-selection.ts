import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import type { BulkSelection } from '../../engine/engine.ts';
import { collectionInput, tagListInput, tagsToMatch } from './collections.ts';
import { docTypeInput, documentIdInput } from './kb-parts.ts';

// An empty list is refused: an engine might read it as no condition at all.
export const selectionInput = {
  document_ids: z.array(documentIdInput).min(1).max(10_000).optional(),
  collection: collectionInput.optional(),
  tags: tagListInput.min(1).optional(),
  doc_type: docTypeInput.optional(),
  from_id: documentIdInput.optional(),
  to_id: documentIdInput.optional(),
  force: z.boolean().default(false).describe('Even if it is most of all documents.'),
};

type Selecting = z.output<z.ZodObject<typeof selectionInput>>;

/** What is named must hold together; a selection that names nothing is none. */
export function readSelection(input: Selecting): BulkSelection {
  const { document_ids, doc_type, from_id, to_id, force } = input;
  const tags = tagsToMatch(input);
  const named = { document_ids, tags, doc_type, from_id, to_id };
  if (Object.values(named).every((value) => value === undefined)) {
    throw new CarrelError(
      'invalid_arguments',
      'Say which documents: document_ids, collection, tags, doc_type, from_id or to_id.',
    );
  }
  return { ...named, force };
}

export const bulkOutput = z.object({
  matched: z.int(),
  total: z.int(),
  changed: z.int(),
  job_id: z.union([z.int(), z.string()]),
});
