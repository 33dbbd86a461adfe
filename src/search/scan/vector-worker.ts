/** Scans its segments, in blocks that no other thread has taken. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import type { ScanWork, ScanWorkerData } from './scan-pool.ts';
import { type ScanPart, scanBlocks } from './scanner.ts';
import { openSegment, type Segment } from './segment.ts';

const { layout, scanner }: ScanWorkerData = workerData;
const segments: Segment[] = [];

answerCalls<ScanWork, ScanPart | undefined>(() => ({
  perform(work) {
    if (work.kind === 'search') return scanBlocks(segments, work.task, () => Atomics.add(work.next, 0, 1));
    segments.push(openSegment(work.memory, layout, scanner));
    return undefined;
  },
}));
