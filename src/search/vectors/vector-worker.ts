/** Scans the segments that it was given, for the blocks that no other thread has taken. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { createKernel } from './scan-kernel.ts';
import type { ScanWork, ScanWorkerData } from './scan-pool.ts';
import { createScanner, type ScanPart } from './scanner.ts';

const { layout, scanner: place }: ScanWorkerData = workerData;
const scanner = createScanner(layout);

answerCalls<ScanWork, ScanPart | undefined>(() => ({
  perform(work) {
    if (work.kind === 'search') return scanner.scan(work.task, () => Atomics.add(work.next, 0, 1));
    scanner.add(work.memory, createKernel(work.memory, layout, place));
    return undefined;
  },
}));
