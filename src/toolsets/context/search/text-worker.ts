import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { performTextRequest } from './text-thread.ts';

/** A separate thread, because a book would block the server for too long. */
answerCalls(() => ({ perform: performTextRequest }));
