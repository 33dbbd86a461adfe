import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { type GrepPattern, type GrepRequest, grepText } from './grep-text.ts';

const pattern: GrepPattern = workerData;

/** Searches texts one by one, on a thread that can be terminated: matching a regular expression may never end. */
answerCalls(() => ({ perform: (request: GrepRequest) => grepText(request, pattern) }));
