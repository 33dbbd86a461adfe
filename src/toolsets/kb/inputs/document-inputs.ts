import * as z from 'zod';
import { isBlank } from '../../../base/text.ts';
import { storedText } from '../../../tools/text-input.ts';
import { collectionInput, tagListInput } from './collections.ts';

/* Schemas of arguments. Limits that callers rarely reach are checked but not listed, to save tokens. */

export const documentIdInput = z.int().refine((id) => id > 0, { error: 'must be at least 1' });
const titleInput = storedText(text(300));
export const docTypeInput = storedText(text(60)).refine((type) => !/\p{Cc}/u.test(type), {
  error: 'must not contain control characters',
});
export const sourcePathInput = storedText(text(1000));
export const noteInput = storedText(text(1_000_000));
export const queryInput = text(10_000);
export const pathInput = storedText(text(4096)).describe('Absolute path of a local file.');

function text(max: number) {
  return z
    .string()
    .refine((value) => !isBlank(value), { error: 'must not be blank' })
    .refine((value) => value.length <= max, { error: `must have at most ${max} characters` });
}

/** Arguments that describe a new document. */
export const newDocumentInput = {
  collection: collectionInput.optional().describe('Default: documents.'),
  tags: tagListInput.optional(),
  title: titleInput.optional(),
  source_path: sourcePathInput.optional().describe('Where it comes from, for lookup with kb_get.'),
};
