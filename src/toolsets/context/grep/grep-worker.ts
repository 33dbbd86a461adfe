import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { type GrepPattern, type GrepRequest, grepText } from './grep-text.ts';

const pattern: GrepPattern = workerData;

/** Searches texts one by one. A regular expression may never end, so the thread can be terminated. */
answerCalls(() => ({ perform: (request: GrepRequest) => grepText(request, pattern) }));
