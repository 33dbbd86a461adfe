import { Worker } from 'node:worker_threads';
import { CarrelError } from '../../base/errors.ts';
import type { QuantisedQuery } from '../../storage/quantise.ts';
import { createScanner, type ScanPart, type ScanTask } from './scanner.ts';
import type { Segment } from './segment.ts';
import { blockRows, type SegmentLayout } from './segment-layout.ts';

export type ScanWork =
  | { kind: 'segment'; memory: WebAssembly.Memory }
  /** `next` is the number of the first block that nobody has taken, in shared memory. */
  | { kind: 'search'; id: number; task: ScanTask; next: Int32Array };

export interface ScanReply extends ScanPart {
  readonly id: number;
}

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

interface Search {
  readonly parts: ScanPart[];
  readonly lanes: Worker[];
  blocksLeft: number;
  resolve(parts: ScanPart[]): void;
  reject(error: CarrelError): void;
}

/**
 * Worker threads that share each query: whoever is free takes the next block, and the answer is there when all blocks are
 * done. So a thread that the machine has no time for holds up nobody. They start with the first query that is worth it
 * and do not keep the process alive. A worker that dies takes its queries with it; the next query starts another.
 */
export function createScanPool(layout: SegmentLayout, threads: number): ScanPool {
  const segments: Segment[] = [];
  const own = createScanner(layout);
  const lanes: (Worker | undefined)[] = Array.from({ length: Math.min(threads, threadsMax) });
  const searches = new Map<number, Search>();
  let lastId = 0;

  return {
    addSegment(segment) {
      segments.push(segment);
      own.add(segment.memory, segment.kernel);
      for (const lane of lanes) lane?.postMessage({ kind: 'segment', memory: segment.memory } satisfies ScanWork);
    },
    expect(rows) {
      if (rows > blocksAtOnce * blockRows) lanes.forEach((_, place) => void laneAt(place).unref());
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
    lastId += 1;
    const id = lastId;
    const next = new Int32Array(new SharedArrayBuffer(4));
    const work: ScanWork = { kind: 'search', id, task, next };
    return new Promise((resolve, reject) => {
      const asked = lanes.slice(0, blocks).map((_, place) => laneAt(place));
      searches.set(id, { parts: [], lanes: asked, blocksLeft: blocks, resolve, reject });
      for (const lane of asked) {
        lane.ref();
        lane.postMessage(work);
      }
    });
  }

  function laneAt(place: number): Worker {
    const existing = lanes[place];
    if (existing) return existing;
    const workerData: ScanWorkerData = { layout, scanner: place + 1 };
    const lane = new Worker(workerUrl, { workerData, name: 'carrel-scan', execArgv: [] });
    let failure: unknown;
    lane.on('message', take);
    lane.on('error', (error) => {
      failure = error;
    });
    lane.on('exit', () => {
      if (lanes[place] === lane) lanes[place] = undefined;
      failSearches(lane, failure);
    });
    for (const { memory } of segments) lane.postMessage({ kind: 'segment', memory } satisfies ScanWork);
    lanes[place] = lane;
    return lane;
  }

  function take({ id, ...part }: ScanReply): void {
    const search = searches.get(id);
    if (search === undefined) return;
    search.parts.push(part);
    search.blocksLeft -= part.blocks;
    if (search.blocksLeft > 0) return;
    searches.delete(id);
    if (searches.size === 0) for (const lane of lanes) lane?.unref();
    search.resolve(search.parts);
  }

  /** Any that the thread was asked may have lost the blocks that it had taken. */
  function failSearches(lane: Worker, cause: unknown): void {
    const message = 'The search by meaning stopped unexpectedly. Repeat the call.';
    for (const [id, search] of searches) {
      if (!search.lanes.includes(lane)) continue;
      searches.delete(id);
      search.reject(new CarrelError('unavailable', message, { cause }));
    }
  }
}

// Bundled, all files lie in one folder.
const workerUrl = new URL(
  import.meta.url.endsWith('.ts') ? './vector-worker.ts' : './vector-worker.js',
  import.meta.url,
);

function counter(): () => number {
  let number = -1;
  return () => {
    number += 1;
    return number;
  };
}
