/** Scans segments on its own thread. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { type ScoredRow, scanRows } from './scanner.ts';
import { openSegment, type Segment, type SegmentLayout } from './segment.ts';
import type { ScanWork } from './vector-index.ts';

const layout: SegmentLayout = workerData;
const segments: Segment[] = [];

answerCalls<ScanWork, ScoredRow[]>(() => ({
  perform({ memories, task }) {
    for (const memory of memories.slice(segments.length)) segments.push(openSegment(memory, layout, 1));
    return scanRows(segments, task);
  },
}));
