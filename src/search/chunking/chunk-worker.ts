import { CarrelError } from '../../base/errors.ts';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { placedChunks } from './placed-chunks.ts';

/** On its own thread, because a book would block the server for too long. */
answerCalls(() => ({ perform: placedChunks, explain: notChunked }));

function notChunked(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be split into chunks.', { cause });
}
