import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { type GrepPattern, grepText } from './grep-text.ts';

/** Looks through one text after the other. A regular expression can run for ever: whoever started this thread ends it. */
assert(parentPort !== null, 'runs as a worker only');
const port = parentPort;
const pattern: GrepPattern = workerData;

port.on('message', (text: string) => port.postMessage(grepText(text, pattern)));
