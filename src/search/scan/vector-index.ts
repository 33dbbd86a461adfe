import assert from 'node:assert/strict';
import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import { quantise } from '../../storage/vectors/quantise.ts';
import { type ScanTask, type ScoredRow, scanRows } from './scanner.ts';
import { createMemory, openSegment, type Segment, segmentLayout, segmentRows } from './segment.ts';

export interface VectorIndexConfig {
  dimensions: number;
  /** Max vectors. One of 384 dimensions takes 396 bytes, plus about 100 for its id and group. */
  vectorsMax: number;
}

export interface VectorSearchOptions {
  limit: number;
  /** Restricts the search to vectors of these groups. A group is the text that a vector belongs to. */
  groups?: readonly number[] | undefined;
}

export interface VectorCandidate {
  id: number;
  group: number;
  score: number;
}

/** Vectors with their quantised codes, as stored. */
export interface QuantisedVectors {
  readonly ids: ArrayLike<number>;
  readonly groups: Float64Array;
  readonly codes: Int8Array;
  readonly scales: Float32Array;
}

export type VectorIndex = ReturnType<typeof createVectorIndex>;

/** A search for the scan thread, with the memory of all segments. */
export interface ScanWork {
  readonly memories: readonly WebAssembly.Memory[];
  readonly task: ScanTask;
}

/** Max rows that are scanned on the calling thread. That takes about a millisecond; a scan thread takes 12 MB. */
const callerRowsMax = 16_384;

/** Creates an in-memory copy of the stored vectors, quantised to bytes. Each query scans all of them. */
export function createVectorIndex(config: VectorIndexConfig) {
  const layout = segmentLayout(config.dimensions);
  const segments: Segment[] = [];
  const rowOfId = new Map<number, number>();
  const idsOfGroup = new Map<number, number[]>();
  /** The id in each row; -1 for a free row. */
  const idOfRow: number[] = [];
  const freeRows: number[] = [];
  let rowsUsed = 0;
  let scansRunning = 0;
  /** Started by the first query that needs it. */
  let thread: Calls<ScanWork, ScoredRow[]> | undefined;

  /** Reserves 1 to `countMax` consecutive rows of one segment. */
  function reserveRows(countMax: number): { row: number; count: number } {
    // While a scan runs, rows are not reused: its result would be attributed to the new vector.
    const free = scansRunning === 0 ? freeRows.pop() : undefined;
    if (free !== undefined) return { row: free, count: 1 };
    const row = rowsUsed;
    if (row >= config.vectorsMax) {
      const message = `The vector index is full (${config.vectorsMax} vectors). Use PostgreSQL (STORAGE_BACKEND=postgresql).`;
      throw new CarrelError('unavailable', message);
    }
    if (row >= segments.length * segmentRows) {
      segments.push(openSegment(createMemory(layout), layout, 0));
    }
    const count = Math.min(countMax, segments.length * segmentRows - row, config.vectorsMax - row);
    rowsUsed = row + count;
    return { row, count };
  }

  /** Adds vectors, except those with known ids. Searches that start later find them. */
  function add({ ids, groups, codes, scales }: QuantisedVectors): void {
    assert.equal(codes.length, ids.length * config.dimensions, 'vectors of another model');
    for (let start = 0; start < ids.length; ) {
      if (rowOfId.has(ids[start] ?? 0)) {
        start += 1;
        continue;
      }
      let end = start + 1;
      while (end < ids.length && !rowOfId.has(ids[end] ?? 0)) end += 1;
      const { row, count } = reserveRows(end - start);
      for (let at = 0; at < count; at += 1) {
        const id = ids[start + at] ?? 0;
        const group = groups[start + at] ?? 0;
        const groupIds = idsOfGroup.get(group);
        if (groupIds) groupIds.push(id);
        else idsOfGroup.set(group, [id]);
        rowOfId.set(id, row + at);
        idOfRow[row + at] = id;
      }
      segmentOf(row).writeRows(row % segmentRows, {
        codes: codes.subarray(start * config.dimensions, (start + count) * config.dimensions),
        scales: scales.subarray(start, start + count),
        groups: groups.subarray(start, start + count),
      });
      start += count;
    }
  }

  function remove(id: number): boolean {
    const row = rowOfId.get(id);
    if (row === undefined) return false;
    const group = groupOf(row);
    const remaining = idsOfGroup.get(group)?.filter((each) => each !== id) ?? [];
    if (remaining.length > 0) idsOfGroup.set(group, remaining);
    else idsOfGroup.delete(group);
    segmentOf(row).clearRow(row % segmentRows);
    rowOfId.delete(id);
    idOfRow[row] = -1;
    freeRows.push(row);
    return true;
  }

  function segmentOf(row: number): Segment {
    const segment = segments[Math.floor(row / segmentRows)];
    assert(segment);
    return segment;
  }

  function groupOf(row: number): number {
    return segmentOf(row).groups[row % segmentRows] ?? 0;
  }

  /** Finds the nearest vectors by quantised scores, best first. For the exact order, request more and rescore them. */
  async function candidates(query: Float32Array, { limit, groups }: VectorSearchOptions): Promise<VectorCandidate[]> {
    assert.equal(query.length, config.dimensions, 'a query of another model');
    if (rowOfId.size === 0) return [];
    const { codes, scale } = quantise(query);
    scansRunning += 1;
    try {
      const rows = await scan({ query: codes, limit, rowsUsed, allowed: groups });
      return rows
        .map(({ row, score }) => ({ id: idOfRow[row] ?? -1, group: groupOf(row), score: score * scale }))
        .filter(({ id }) => id >= 0);
    } finally {
      scansRunning -= 1;
    }
  }

  async function scan(task: ScanTask): Promise<ScoredRow[]> {
    if (rowsUsed <= callerRowsMax) return scanRows(segments, task);
    if (!thread?.alive) {
      const worker = { from: import.meta.url, file: 'vector-worker', name: 'carrel-scan' };
      thread = createWorkerCalls({ ...worker, workerData: layout, exitError });
    }
    return thread.call({ memories: segments.map(({ memory }) => memory), task });
  }

  return {
    get size(): number {
      return rowOfId.size;
    },
    get bytes(): number {
      return segments.length * layout.bytes;
    },
    add,
    delete: remove,
    /** Returns the ids of all vectors in these groups. */
    idsOf: (groups: readonly number[]): number[] => groups.flatMap((group) => idsOfGroup.get(group) ?? []),
    candidates,
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}

function exitError(cause: unknown): CarrelError {
  return new CarrelError('unavailable', 'The search by meaning stopped unexpectedly. Try again.', { cause });
}
