import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCarrelError } from '../base/errors.ts';
import { checkAnswer } from './answer-limit.ts';

test('rejects an answer that is too long, with advice', () => {
  const long = { text: 'x'.repeat(100) };
  assert.equal(checkAnswer(long, 1000, { copies: 2 }), long);
  assert.throws(
    () => checkAnswer(long, 150, { copies: 2 }),
    (error) => isCarrelError(error) && error.code === 'answer_too_large' && /smaller limit/.test(error.message),
  );
  assert.throws(() => checkAnswer(long, 150, { copies: 2, done: true }), /The call succeeded, but its answer/);
});
