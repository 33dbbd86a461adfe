import { CarrelError } from '../../base/errors.ts';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { positionedChunks } from './positioned-chunks.ts';

/** Chunks texts on a separate thread, because a book would block the server for too long. */
answerCalls(() => ({ perform: positionedChunks, explain: notChunked }));

function notChunked(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be split into chunks.', { cause });
}
