import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../../../base/errors.ts';
import { describeOutcome } from './submission.ts';

test('reports a duplicate even if its document is gone', async () => {
  const documentWithoutChunks = async () =>
    Promise.reject(new CarrelError('document_not_found', 'No document has the id 7.'));
  const outcome = { accepted: false, document_id: 7, title: 'Seven' } as const;
  const shown = await describeOutcome({ documentWithoutChunks }, outcome, ['collection:memory'], {});
  assert.partialDeepStrictEqual(shown, { status: 'duplicate', document_id: 7, title: 'Seven' });
});
