import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { performTextRequest } from './text-thread.ts';

/** Runs on a thread of its own, because a book would block the server for too long. */
answerCalls(() => ({ perform: performTextRequest }));
