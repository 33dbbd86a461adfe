import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { type GrepPattern, grepText } from './grep-text.ts';

const pattern: GrepPattern = workerData;

/** Looks through one text after the other. A regular expression can run for ever: whoever started this thread ends it. */
answerCalls(() => ({ perform: (text: string) => grepText(text, pattern) }));
