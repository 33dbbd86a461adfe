import assert from 'node:assert/strict';
import { CarrelError } from '../../base/errors.ts';
import { dotProduct, type QuantisedVector, quantise } from './quantise.ts';
import { createRowMap } from './row-map.ts';
import { createScanPool } from './scan-pool.ts';
import { createSegment, type Segment, segmentLayout, segmentRows } from './segment.ts';

export interface VectorIndexConfig {
  dimensions: number;
  /** Worker threads for the scan. More than segments (65,536 vectors each) are not used. */
  threads: number;
  /** Bound of the memory: 390 bytes per vector at 384 dimensions, and about 20 for its id. */
  vectorsMax: number;
}

export interface VectorIndexDeps {
  /** The stored vectors, which are the truth, of the candidates that the scan found. Ids that are gone are left out. */
  readVectors(ids: readonly number[]): Promise<ReadonlyMap<number, Float32Array>>;
}

export interface VectorFilter {
  /** Only these ids. */
  ids?: ReadonlySet<number>;
  /** Only vectors of these groups (a thread, a collection, a corpus: what the owner gave with the vector). */
  groups?: ReadonlySet<number>;
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
  close(): Promise<void>;
}

/** Candidates that are scored exactly, at least. 50 keep recall@10 at 0.99 or above; see the test. */
const rescoredMin = 50;

export function createVectorIndex(config: VectorIndexConfig, deps: VectorIndexDeps): VectorIndex {
  const layout = segmentLayout(config.dimensions);
  const pool = createScanPool(layout, config.threads);
  const segments: Segment[] = [];
  const rowOfId = createRowMap();
  const idOfRow: number[] = [];
  const groupOfRow: number[] = [];
  const freeRows: number[] = [];

  function takeRow(): number {
    const row = freeRows.pop() ?? idOfRow.length;
    if (row >= config.vectorsMax) {
      const message = `The index of meanings is full (${config.vectorsMax} vectors). Raise its limit or use PostgreSQL.`;
      throw new CarrelError('unavailable', message);
    }
    if (row >= segments.length * segmentRows) {
      const segment = createSegment(layout);
      segments.push(segment);
      pool.addSegment(segment.memory);
    }
    return row;
  }

  function setQuantised(id: number, { codes, scale }: QuantisedVector, group = 0): void {
    assert.equal(codes.length, config.dimensions, 'a vector of another model');
    const row = rowOfId.get(id) ?? takeRow();
    // The row is hidden first: a scan that runs now must not take the new codes for the old id.
    segmentOf(row).clearRow(row % segmentRows);
    rowOfId.set(id, row);
    idOfRow[row] = id;
    groupOfRow[row] = group;
    segmentOf(row).writeRow(row % segmentRows, codes, scale);
  }

  function segmentOf(row: number): Segment {
    const segment = segments[Math.floor(row / segmentRows)];
    assert(segment);
    return segment;
  }

  function passes(row: number, filter: VectorFilter | undefined): boolean {
    const { ids, groups } = filter ?? {};
    return (!ids || ids.has(idOfRow[row] ?? -1)) && (!groups || groups.has(groupOfRow[row] ?? -1));
  }

  function bitmask(filter: VectorFilter | undefined): Int32Array | undefined {
    if (!filter?.ids && !filter?.groups) return undefined;
    const mask = new Int32Array(new SharedArrayBuffer(segments.length * (segmentRows / 8)));
    const allow = (row: number) => {
      mask[row >>> 5] = (mask[row >>> 5] ?? 0) | (1 << (row & 31));
    };
    if (filter.ids) {
      for (const id of filter.ids) {
        const row = rowOfId.get(id);
        if (row !== undefined && (!filter.groups || filter.groups.has(groupOfRow[row] ?? -1))) allow(row);
      }
    } else for (let row = 0; row < idOfRow.length; row++) if (passes(row, filter)) allow(row);
    return mask;
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
      idOfRow[row] = -1;
      freeRows.push(row);
      return true;
    },
    async search(query, { limit, filter }) {
      assert.equal(query.length, config.dimensions, 'a query of another model');
      if (rowOfId.size === 0) return [];
      const rows = await pool.scan({
        query: quantise(query),
        limit: Math.max(rescoredMin, Math.ceil(limit * 1.5)),
        rowsUsed: idOfRow.length,
        allowed: bitmask(filter),
      });
      // A row may have been given to another id while the scan ran, so the filter is asked once more.
      const ids = rows.filter(({ row }) => passes(row, filter)).map(({ row }) => idOfRow[row] ?? -1);
      const stored = await deps.readVectors(ids.filter((id) => id >= 0));
      return [...stored]
        .map(([id, vector]) => ({ id, score: dotProduct(query, vector) }))
        .sort((left, right) => right.score - left.score || left.id - right.id)
        .slice(0, limit);
    },
    close: () => pool.close(),
  };
}
