import assert from 'node:assert/strict';
import { CarrelError } from '../../base/errors.ts';
import { createIdSet, type IdSet } from './id-set.ts';
import { dotProduct, type QuantisedVector, quantise } from './quantise.ts';
import { createRowMap } from './row-map.ts';
import { createScanPool } from './scan-pool.ts';
import { createSegment, type Segment, segmentLayout, segmentRows } from './segment.ts';

export interface VectorIndexConfig {
  dimensions: number;
  /** Worker threads for the scan. More than segments (65,536 vectors each) are not used. */
  threads: number;
  /** Bound of the memory: 389 bytes for a vector at 384 dimensions, and 20 for its id and group. */
  vectorsMax: number;
}

export interface VectorIndexDeps {
  /** The stored vectors, which are the truth, of the candidates that the scan found. Ids that are gone are left out. */
  readVectors(ids: readonly number[]): Promise<ReadonlyMap<number, Float32Array>>;
}

export interface VectorFilter {
  /** Only these ids. */
  ids?: ReadonlySet<number>;
  /** Only vectors of these groups: what was given with the vector, as the text that it is of. Whole numbers from 0. */
  groups?: Iterable<number> | ArrayLike<number>;
}

export interface VectorSearchOptions {
  limit: number;
  filter?: VectorFilter;
}

export interface VectorMatch {
  id: number;
  /** Dot product with the stored vector: the cosine, where both have unit length. */
  score: number;
}

export interface VectorCandidate {
  id: number;
  group: number;
  /** As far as bytes tell. */
  score: number;
}

/** An in-memory image of the stored vectors, in bytes, that is scanned whole for each query. */
export interface VectorIndex {
  readonly size: number;
  readonly bytes: number;
  /** Ids are whole numbers from 0. Searches that begin after this call see the vector. */
  set(id: number, vector: Float32Array, group?: number): void;
  /** The same for a vector that was stored with its codes, which saves the quantising when an index is loaded. */
  setQuantised(id: number, vector: QuantisedVector, group?: number): void;
  delete(id: number): boolean;
  search(query: Float32Array, options: VectorSearchOptions): Promise<VectorMatch[]>;
  /** What the scan finds, best first, for those who score exactly themselves. */
  candidates(query: Float32Array, options: VectorSearchOptions): Promise<VectorCandidate[]>;
  close(): Promise<void>;
}

/** Candidates that are scored exactly, at least. 50 keep recall@10 at 0.99 or above; see the test. */
const rescoredMin = 50;

export function createVectorIndex(config: VectorIndexConfig, deps: VectorIndexDeps): VectorIndex {
  const layout = segmentLayout(config.dimensions);
  const pool = createScanPool(layout, config.threads);
  const segments: Segment[] = [];
  const rowOfId = createRowMap();
  const idOfRow = createRowNumbers();
  const groupOfRow = createRowNumbers();
  const freeRows: number[] = [];
  let rowsUsed = 0;

  function takeRow(): number {
    const row = freeRows.pop() ?? rowsUsed;
    if (row >= config.vectorsMax) {
      const message = `The index of meanings is full (${config.vectorsMax} vectors). Raise its limit or use PostgreSQL.`;
      throw new CarrelError('unavailable', message);
    }
    if (row >= segments.length * segmentRows) {
      const segment = createSegment(layout);
      segments.push(segment);
      pool.addSegment(segment.memory);
    }
    rowsUsed = Math.max(rowsUsed, row + 1);
    return row;
  }

  function setQuantised(id: number, { codes, scale }: QuantisedVector, group = 0): void {
    assert.equal(codes.length, config.dimensions, 'a vector of another model');
    const row = rowOfId.get(id) ?? takeRow();
    // The row is hidden first: a scan that runs now must not take the new codes for the old id.
    segmentOf(row).clearRow(row % segmentRows);
    rowOfId.set(id, row);
    idOfRow.set(row, id);
    groupOfRow.set(row, group);
    segmentOf(row).writeRow(row % segmentRows, codes, scale);
  }

  function segmentOf(row: number): Segment {
    const segment = segments[Math.floor(row / segmentRows)];
    assert(segment);
    return segment;
  }

  function bitmask(ids: ReadonlySet<number> | undefined, groups: IdSet | undefined): Int32Array {
    const mask = new Int32Array(new SharedArrayBuffer(segments.length * (segmentRows / 8)));
    if (ids) {
      for (const id of ids) {
        const row = rowOfId.get(id);
        if (row === undefined || (groups && !groups.has(groupOfRow.get(row)))) continue;
        mask[row >>> 5] = (mask[row >>> 5] ?? 0) | (1 << (row & 31));
      }
      return mask;
    }
    groupOfRow.pages.forEach((page, number) => {
      const first = number * segmentRows;
      groups?.mark(page, Math.min(segmentRows, rowsUsed - first), mask, first / 32);
    });
    return mask;
  }

  async function candidates(query: Float32Array, { limit, filter }: VectorSearchOptions): Promise<VectorCandidate[]> {
    assert.equal(query.length, config.dimensions, 'a query of another model');
    if (rowOfId.size === 0) return [];
    const { ids } = filter ?? {};
    const groups = filter?.groups && createIdSet(filter.groups);
    const rows = await pool.scan({
      query: quantise(query),
      limit,
      rowsUsed,
      allowed: ids || groups ? bitmask(ids, groups) : undefined,
    });
    // A row may have been given to another id while the scan ran, so the filter is asked once more.
    return rows
      .map(({ row, score }) => ({ id: idOfRow.get(row), group: groupOfRow.get(row), score }))
      .filter(({ id, group }) => id >= 0 && (!ids || ids.has(id)) && (!groups || groups.has(group)));
  }

  return {
    get size() {
      return rowOfId.size;
    },
    get bytes() {
      return segments.length * layout.bytes;
    },
    set: (id, vector, group) => setQuantised(id, quantise(vector), group),
    setQuantised,
    delete(id) {
      const row = rowOfId.get(id);
      if (row === undefined) return false;
      segmentOf(row).clearRow(row % segmentRows);
      rowOfId.delete(id);
      idOfRow.set(row, -1);
      freeRows.push(row);
      return true;
    },
    candidates,
    async search(query, { limit, ...options }) {
      const rescored = Math.max(rescoredMin, Math.ceil(limit * 1.5));
      const found = await candidates(query, { limit: rescored, ...options });
      const stored = await deps.readVectors(found.map(({ id }) => id));
      return [...stored]
        .map(([id, vector]) => ({ id, score: dotProduct(query, vector) }))
        .sort((left, right) => right.score - left.score || left.id - right.id)
        .slice(0, limit);
    },
    close: () => pool.close(),
  };
}

/** A whole number for each row; 0 where none was set. Pages, so that growing copies nothing. */
function createRowNumbers() {
  const pages: Float64Array[] = [];
  return {
    pages,
    get: (row: number): number => pages[Math.floor(row / segmentRows)]?.[row % segmentRows] ?? 0,
    set(row: number, value: number): void {
      const number = Math.floor(row / segmentRows);
      const page = pages[number] ?? new Float64Array(segmentRows);
      pages[number] = page;
      page[row % segmentRows] = value;
    },
  };
}
