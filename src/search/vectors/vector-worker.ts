/** Scans the segments that it was given. One worker owns a segment, because the segment holds the query's scratch. */
import { parentPort } from 'node:worker_threads';
import { createScan, type Scan } from './scan-kernel.ts';
import type { ScanReply, ScanWork } from './scan-pool.ts';
import type { SegmentLayout } from './segment.ts';
import { createTopRows } from './top-rows.ts';

interface OwnedSegment {
  number: number;
  layout: SegmentLayout;
  live: Int32Array;
  mask: Int32Array;
  query: Int16Array;
  scan: Scan;
}

const owned: OwnedSegment[] = [];

parentPort?.on('message', (work: ScanWork) => {
  if (work.kind === 'segment') owned.push(own(work.number, work.memory, work.layout));
  else parentPort?.postMessage(search(work));
});

function own(number: number, memory: WebAssembly.Memory, layout: SegmentLayout): OwnedSegment {
  return {
    number,
    layout,
    live: new Int32Array(memory.buffer, layout.live, layout.rowsMax / 32),
    mask: new Int32Array(memory.buffer, layout.mask, layout.rowsMax / 32),
    query: new Int16Array(memory.buffer, layout.query, layout.stride),
    scan: createScan(memory, layout),
  };
}

function search(work: Extract<ScanWork, { kind: 'search' }>): ScanReply {
  const best = createTopRows(work.limit);
  for (const segment of owned) {
    const firstRow = segment.number * segment.layout.rowsMax;
    const rowsUsed = Math.min(work.rowsUsed - firstRow, segment.layout.rowsMax);
    if (rowsUsed <= 0) continue;
    fillMask(segment, firstRow / 32, work.allowed);
    segment.query.set(work.codes);
    segment.scan(rowsUsed, work.scale, best, firstRow);
  }
  return { id: work.id, rows: best.sorted() };
}

/** The filter is applied here, before anything is scored: a filtered search ranks what it may show and nothing else. */
function fillMask(segment: OwnedSegment, firstWord: number, allowed: Int32Array | undefined): void {
  if (!allowed) {
    segment.mask.set(segment.live);
    return;
  }
  for (let word = 0; word < segment.mask.length; word++) {
    segment.mask[word] = (segment.live[word] ?? 0) & (allowed[firstWord + word] ?? 0);
  }
}
