import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from './errors.ts';

test('keeps the cause out of the message', () => {
  const error = new CarrelError('unavailable', 'The database does not answer.', { cause: new Error('secret host') });
  assert.equal(error.kind, 'upstream');
  assert.equal(error.message.includes('secret host'), false);
  assert.equal((error.cause as Error).message, 'secret host');
});
