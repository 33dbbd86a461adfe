import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { performTextRequest } from './text-thread.ts';

/** Runs on a separate thread, because processing a book would block the server for too long. */
answerCalls(() => ({ perform: performTextRequest }));
