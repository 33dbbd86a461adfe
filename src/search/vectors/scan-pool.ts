import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { QuantisedQuery } from '../../storage/quantise.ts';
import { createScanner, type ScanPart, type ScanTask } from './scanner.ts';
import type { Segment } from './segment.ts';
import { blockRows, type SegmentLayout } from './segment-layout.ts';

export type ScanWork =
  | { kind: 'segment'; memory: WebAssembly.Memory }
  /** `next` is the number of the first block that nobody has taken, in shared memory. */
  | { kind: 'search'; task: ScanTask; next: Int32Array };

/** What a thread that scans is started with. */
export interface ScanWorkerData {
  readonly layout: SegmentLayout;
  /** Its place among those that scan. */
  readonly scanner: number;
}

export interface ScanRequest extends Omit<ScanTask, 'query'> {
  readonly query: QuantisedQuery;
}

export interface ScoredRow {
  readonly row: number;
  readonly score: number;
}

export interface ScanPool {
  addSegment(segment: Segment): void;
  /** So many rows are on their way: the threads that they need start meanwhile. */
  expect(rows: number): void;
  scan(request: ScanRequest): Promise<ScoredRow[]>;
  close(): Promise<void>;
}

/** Up to here the scan is done at once: it takes a tenth of a millisecond, and asking another thread takes as long. */
const blocksAtOnce = 1;

/** More than these find nothing to do: the memory is the bound. Segments have scratches for so many. */
const threadsMax = 4;

/** A thread's answer to a segment is nothing, and to a search its part. */
type Lane = Calls<ScanWork, ScanPart | undefined>;

/**
 * Worker threads that share each query: whoever is free takes the next block, and the answer is there when all blocks are
 * done. So a thread that the machine has no time for holds up nobody. They start with the first query that is worth it
 * and do not keep the process alive. A worker that dies takes its queries with it; the next query starts another.
 */
export function createScanPool(layout: SegmentLayout, threads: number): ScanPool {
  const segments: Segment[] = [];
  const own = createScanner(layout);
  const lanes: (Lane | undefined)[] = Array.from({ length: Math.min(threads, threadsMax) });

  return {
    addSegment(segment) {
      segments.push(segment);
      own.add(segment.memory, segment.kernel);
      for (const lane of lanes) if (lane) give(lane, segment);
    },
    expect(rows) {
      if (rows > blocksAtOnce * blockRows) lanes.forEach((_, place) => void laneAt(place));
    },
    async scan({ query, limit, rowsUsed, allowed }) {
      const task: ScanTask = { query: query.codes, limit, rowsUsed, allowed };
      const blocks = Math.ceil(rowsUsed / blockRows);
      const parts = blocks <= blocksAtOnce ? [own.scan(task, counter())] : await share(task, blocks);
      return parts
        .flatMap(({ rows, scores }) => Array.from(rows, (row, at) => ({ row, score: scores[at] ?? 0 })))
        .sort((left, right) => right.score - left.score || left.row - right.row)
        .slice(0, limit)
        .map(({ row, score }) => ({ row, score: score * query.scale }));
    },
    async close() {
      await Promise.all(lanes.splice(0, lanes.length, ...lanes.map(() => undefined)).map((lane) => lane?.terminate()));
    },
  };

  function share(task: ScanTask, blocks: number): Promise<ScanPart[]> {
    const next = new Int32Array(new SharedArrayBuffer(4));
    return new Promise((resolve, reject) => {
      const parts: ScanPart[] = [];
      let blocksLeft = blocks;
      const take = (part: ScanPart | undefined): void => {
        if (part === undefined) return;
        parts.push(part);
        blocksLeft -= part.blocks;
        if (blocksLeft === 0) resolve(parts);
      };
      // A thread that dies may have taken blocks with it: then the search fails.
      for (const lane of lanes.slice(0, blocks).map((_, place) => laneAt(place))) {
        lane.call({ kind: 'search', task, next }).then(take, reject);
      }
    });
  }

  function laneAt(place: number): Lane {
    const existing = lanes[place];
    if (existing?.alive) return existing;
    const workerData: ScanWorkerData = { layout, scanner: place + 1 };
    const lane: Lane = createWorkerCalls({
      from: import.meta.url,
      file: 'vector-worker',
      name: 'carrel-scan',
      workerData,
      lost,
    });
    for (const segment of segments) give(lane, segment);
    lanes[place] = lane;
    return lane;
  }
}

function give(lane: Lane, { memory }: Segment): void {
  // A thread that fails here fails its searches too.
  lane.call({ kind: 'segment', memory }).catch(() => {});
}

function lost(cause: unknown): CarrelError {
  return new CarrelError('unavailable', 'The search by meaning stopped unexpectedly. Repeat the call.', { cause });
}

function counter(): () => number {
  let number = -1;
  return () => {
    number += 1;
    return number;
  };
}
