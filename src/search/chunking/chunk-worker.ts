import { CarrelError } from '../../base/errors.ts';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { placedChunks } from './placed-chunks.ts';

/** A thread of its own, because a book takes longer than those who are being served can wait. */
answerCalls(() => ({ perform: placedChunks, explain: notChunked }));

function notChunked(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be cut into passages.', { cause });
}
