import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { QuantisedVector } from '../../storage/vectors/quantise.ts';
import { bestOf, type ScanPart, type ScanTask, type ScoredRow, scanBlocks } from './scanner.ts';
import { blockRows, type Segment, type SegmentLayout } from './segment.ts';

export type ScanWork =
  | { kind: 'segment'; memory: WebAssembly.Memory }
  /** `next`: number of the next block to scan, in shared memory. */
  | { kind: 'search'; task: ScanTask; next: Int32Array };

export interface ScanWorkerData {
  readonly layout: SegmentLayout;
  readonly scanner: number;
}

export interface ScanRequest extends Omit<ScanTask, 'query'> {
  readonly query: QuantisedVector;
}

export interface ScanPool {
  addSegment(segment: Segment): void;
  scan(request: ScanRequest): Promise<ScoredRow[]>;
  close(): Promise<void>;
}

/** Up to this many blocks are scanned on the calling thread: 0.1 ms, as long as calling a worker would take. */
const blocksAtOnce = 1;

/** More threads do not help: memory is the bottleneck. Segments have scratch space for this many. */
const threadsMax = 4;

/** A worker answers `segment` with undefined and `search` with its best rows. */
type Lane = Calls<ScanWork, ScanPart | undefined>;

/** Threads that share each query: each idle one takes the next block. Started by the first query that needs them. */
export function createScanPool(layout: SegmentLayout, threads: number): ScanPool {
  const segments: Segment[] = [];
  const lanes: (Lane | undefined)[] = Array.from({ length: Math.min(threads, threadsMax) });

  return {
    addSegment(segment) {
      segments.push(segment);
      for (const lane of lanes) if (lane) give(lane, segment);
    },
    async scan({ query, limit, rowsUsed, allowed }) {
      const task: ScanTask = { query: query.codes, limit, rowsUsed, allowed };
      const blocks = Math.ceil(rowsUsed / blockRows);
      const parts = blocks <= blocksAtOnce ? [scanBlocks(segments, task, counter())] : await share(task, blocks);
      const best = parts.flatMap((part) => part.best);
      return bestOf(best, limit).map(({ row, score }) => ({ row, score: score * query.scale }));
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
      // If a thread dies, the blocks it took are not scanned, so the search fails.
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
  return new CarrelError('unavailable', 'The search by meaning stopped unexpectedly. Try again.', { cause });
}

function counter(): () => number {
  let number = -1;
  return () => {
    number += 1;
    return number;
  };
}
