import { Worker } from 'node:worker_threads';
import { CarrelError } from '../../base/errors.ts';
import type { QuantisedVector } from './quantise.ts';
import type { SegmentLayout } from './segment.ts';
import type { ScoredRow } from './top-rows.ts';

export type ScanWork =
  | { kind: 'segment'; number: number; memory: WebAssembly.Memory; layout: SegmentLayout }
  | {
      kind: 'search';
      id: number;
      codes: Int8Array;
      scale: number;
      limit: number;
      rowsUsed: number;
      allowed: Int32Array | undefined;
    };

export interface ScanReply {
  id: number;
  rows: ScoredRow[];
}

export interface ScanRequest {
  query: QuantisedVector;
  limit: number;
  rowsUsed: number;
  /** A bit for each row that the filter lets through, in shared memory; without it all live rows are scored. */
  allowed: Int32Array | undefined;
}

export interface ScanPool {
  addSegment(memory: WebAssembly.Memory): void;
  scan(request: ScanRequest): Promise<ScoredRow[]>;
  close(): Promise<void>;
}

/**
 * Worker threads that share the segments among them; each query goes to all of them. They start with the first query
 * and do not keep the process alive. A worker that dies takes its queries with it; the next query starts another.
 */
export function createScanPool(layout: SegmentLayout, threads: number): ScanPool {
  const memories: WebAssembly.Memory[] = [];
  const lanes: (Lane | undefined)[] = Array.from({ length: threads });

  function laneFor(number: number): Lane {
    const slot = number % threads;
    const existing = lanes[slot];
    if (existing) return existing;
    const lane = startLane(() => {
      if (lanes[slot] === lane) lanes[slot] = undefined;
    });
    lanes[slot] = lane;
    memories.forEach((memory, other) => {
      if (other % threads === slot) lane.post({ kind: 'segment', number: other, memory, layout });
    });
    return lane;
  }

  return {
    addSegment(memory) {
      const number = memories.push(memory) - 1;
      lanes[number % threads]?.post({ kind: 'segment', number, memory, layout });
    },
    async scan({ query, limit, rowsUsed, allowed }) {
      const busy = memories.slice(0, threads).map((_, number) => laneFor(number));
      const { codes, scale } = query;
      const parts = await Promise.all(busy.map((lane) => lane.search({ codes, scale, limit, rowsUsed, allowed })));
      return parts
        .flat()
        .sort((left, right) => right.score - left.score || left.row - right.row)
        .slice(0, limit);
    },
    async close() {
      await Promise.all(lanes.splice(0).map((lane) => lane?.close()));
    },
  };
}

interface Lane {
  post(work: ScanWork): void;
  search(work: Omit<Extract<ScanWork, { kind: 'search' }>, 'kind' | 'id'>): Promise<ScoredRow[]>;
  close(): Promise<void>;
}

function startLane(onExit: () => void): Lane {
  const file = import.meta.url.endsWith('.ts') ? './vector-worker.ts' : './vector-worker.js';
  const worker = new Worker(new URL(file, import.meta.url));
  const waiting = new Map<number, { resolve(rows: ScoredRow[]): void; reject(error: CarrelError): void }>();
  let lastId = 0;
  let failure: unknown;

  worker.unref();
  worker.on('message', (reply: ScanReply) => {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (waiting.size === 0) worker.unref();
    caller?.resolve(reply.rows);
  });
  worker.on('error', (error) => {
    failure = error;
  });
  worker.on('exit', () => {
    onExit();
    const message = 'The search by meaning stopped unexpectedly. Repeat the call.';
    for (const caller of waiting.values()) caller.reject(new CarrelError('unavailable', message, { cause: failure }));
    waiting.clear();
  });

  return {
    post: (work) => worker.postMessage(work),
    search(work) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.ref();
        worker.postMessage({ kind: 'search', id, ...work } satisfies ScanWork);
      });
    },
    close: async () => void (await worker.terminate()),
  };
}
