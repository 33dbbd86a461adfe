import assert from 'node:assert/strict';
import { CarrelError } from '../../base/errors.ts';
import type { IdSet } from '../../storage/id-set.ts';
import { quantiseQuery } from '../../storage/quantise.ts';
import { createGroupRows } from './group-rows.ts';
import { createRowMap } from './row-map.ts';
import { createRowNumbers } from './row-numbers.ts';
import { createScanPool } from './scan-pool.ts';
import { createSegment, type Segment } from './segment.ts';
import { segmentLayout, segmentRows } from './segment-layout.ts';

export interface VectorIndexConfig {
  dimensions: number;
  /** Worker threads for the scan, four at most. Up to 4,096 vectors are scanned without any. */
  threads: number;
  /** Limits the memory: 403 bytes for a vector of 384 dimensions, and 20 for its id and group. */
  vectorsMax: number;
}

export interface VectorFilter {
  /** Only vectors of these groups: what was given with the vector, as the text that it is of. Whole numbers from 0. */
  groups?: IdSet;
}

export interface VectorSearchOptions {
  limit: number;
  filter?: VectorFilter;
}

export interface VectorCandidate {
  id: number;
  group: number;
  /** As far as bytes tell. */
  score: number;
}

/** Vectors that were stored with their codes, which saves the quantising when an index is loaded. */
export interface QuantisedVectors {
  readonly ids: ArrayLike<number>;
  readonly groups: Float64Array;
  /** Concatenated. */
  readonly codes: Int8Array;
  readonly scales: Float32Array;
}

/** An in-memory copy of the stored vectors, quantised to bytes, that is scanned completely for each query. */
export interface VectorIndex {
  readonly size: number;
  readonly bytes: number;
  /** Announces that about this many vectors will be added soon, so that the threads to search them can start. */
  expect(vectors: number): void;
  /**
   * Ids are whole numbers from 0; those that are there already are left as they are. Searches that begin after this call see
   * the vectors.
   */
  add(vectors: QuantisedVectors): void;
  delete(id: number): boolean;
  /** The ids of all vectors of some groups, if neither are more than `max`. */
  idsOf(groups: IdSet, max: number): number[] | undefined;
  /** What the scan finds, best first. Whoever wants the exact order scores some more of them exactly. */
  candidates(query: Float32Array, options: VectorSearchOptions): Promise<VectorCandidate[]>;
  close(): Promise<void>;
}

export function createVectorIndex(config: VectorIndexConfig): VectorIndex {
  const layout = segmentLayout(config.dimensions);
  const pool = createScanPool(layout, config.threads);
  const segments: Segment[] = [];
  const rowOfId = createRowMap();
  const idOfRow = createRowNumbers(Float64Array);
  const rowsOfGroup = createGroupRows();
  const freeRows: number[] = [];
  let rowsUsed = 0;

  /** Rows that follow one another in a segment, as many as are wanted or there is room for. */
  function takeRows(wanted: number): { row: number; count: number } {
    const free = freeRows.pop();
    if (free !== undefined) return { row: free, count: 1 };
    const row = rowsUsed;
    if (row >= config.vectorsMax) {
      const message = `The index of meanings is full (${config.vectorsMax} vectors). Raise its limit or use PostgreSQL.`;
      throw new CarrelError('unavailable', message);
    }
    if (row >= segments.length * segmentRows) {
      const segment = createSegment(layout, config.dimensions);
      segments.push(segment);
      pool.addSegment(segment);
    }
    const count = Math.min(wanted, segments.length * segmentRows - row, config.vectorsMax - row);
    rowsUsed = row + count;
    return { row, count };
  }

  function add({ ids, groups, codes, scales }: QuantisedVectors): void {
    assert.equal(codes.length, ids.length * config.dimensions, 'vectors of another model');
    for (let place = 0; place < ids.length; ) {
      if (rowOfId.get(ids[place] ?? 0) !== undefined) {
        place += 1;
        continue;
      }
      let end = place + 1;
      while (end < ids.length && rowOfId.get(ids[end] ?? 0) === undefined) end += 1;
      const { row, count } = takeRows(end - place);
      for (let at = 0; at < count; at += 1) {
        const id = ids[place + at] ?? 0;
        const group = groups[place + at] ?? 0;
        rowOfId.set(id, row + at);
        idOfRow.set(row + at, id);
        rowsOfGroup.add(group, row + at);
      }
      segmentOf(row).writeRows(row % segmentRows, {
        codes: codes.subarray(place * config.dimensions, (place + count) * config.dimensions),
        scales: scales.subarray(place, place + count),
        groups: groups.subarray(place, place + count),
      });
      place += count;
    }
  }

  function remove(id: number): boolean {
    const row = rowOfId.get(id);
    if (row === undefined) return false;
    // Hidden first: a scan that runs now must not take what comes next for the old id.
    segmentOf(row).clearRow(row % segmentRows);
    rowOfId.delete(id);
    rowsOfGroup.delete(groupOf(row), row);
    idOfRow.set(row, -1);
    freeRows.push(row);
    return true;
  }

  function segmentOf(row: number): Segment {
    const segment = segments[Math.floor(row / segmentRows)];
    assert(segment);
    return segment;
  }

  function groupOf(row: number): number {
    return segmentOf(row).groupOf(row % segmentRows);
  }

  async function candidates(query: Float32Array, { limit, filter }: VectorSearchOptions): Promise<VectorCandidate[]> {
    assert.equal(query.length, config.dimensions, 'a query of another model');
    if (rowOfId.size === 0) return [];
    const { groups } = filter ?? {};
    const rows = await pool.scan({ query: quantiseQuery(query), limit, rowsUsed, allowed: groups?.pages });
    // A row may have been given to another id while the scan ran, so the filter is asked once more.
    return rows
      .map(({ row, score }) => ({ id: idOfRow.get(row), group: groupOf(row), score }))
      .filter(({ id, group }) => id >= 0 && (!groups || groups.has(group)));
  }

  return {
    get size() {
      return rowOfId.size;
    },
    get bytes() {
      return segments.length * layout.bytes;
    },
    expect: (vectors) => pool.expect(rowsUsed + vectors),
    add,
    delete: remove,
    idsOf(groups, max) {
      const ids = groups.list(max)?.flatMap((group) => rowsOfGroup.rowsOf(group).map(idOfRow.get));
      return ids !== undefined && ids.length <= max ? ids : undefined;
    },
    candidates,
    close: () => pool.close(),
  };
}
