/** Rows that the kernel looks at in one call; its list of candidates has room for so many. */
export const blockRows = 4096;

/**
 * Rows in a segment. Untouched pages of a segment take no memory, so a small index stays small; at 384 dimensions a
 * full segment takes 25.5 MB, which makes 390 MB for a million vectors.
 */
export const segmentRows = 65_536;

/** Where the parts of a segment lie in its memory, as byte offsets. All are multiples of 32. */
export interface SegmentLayout {
  rowsMax: number;
  /** Bytes from one row's codes to the next: the dimensions, rounded up to what the kernel reads in one step. */
  stride: number;
  codes: number;
  scales: number;
  /** A bit for each row that holds a vector. Set after the row was written, cleared before it is given up. */
  live: number;
  /** Live rows that the filter of the current query lets through. */
  mask: number;
  /** The codes of the current query, two bytes each: the kernel then need not widen them again for each row. */
  query: number;
  rowsOut: number;
  scoresOut: number;
  bytes: number;
}

export function segmentLayout(dimensions: number, rowsMax = segmentRows): SegmentLayout {
  const stride = Math.ceil(dimensions / 32) * 32;
  const codes = 0;
  const scales = codes + rowsMax * stride;
  const live = scales + rowsMax * 4;
  const mask = live + rowsMax / 8;
  const query = mask + rowsMax / 8;
  const rowsOut = query + 2 * stride;
  const scoresOut = rowsOut + blockRows * 4;
  return { rowsMax, stride, codes, scales, live, mask, query, rowsOut, scoresOut, bytes: scoresOut + blockRows * 4 };
}

/** What the writing thread sees of a segment. The scanning thread gets the same memory. */
export interface Segment {
  readonly memory: WebAssembly.Memory;
  writeRow(row: number, codes: Int8Array, scale: number): void;
  clearRow(row: number): void;
}

export function createSegment(layout: SegmentLayout): Segment {
  const pages = Math.ceil(layout.bytes / 65_536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const codes = new Int8Array(memory.buffer, layout.codes, layout.rowsMax * layout.stride);
  const scales = new Float32Array(memory.buffer, layout.scales, layout.rowsMax);
  const live = new Int32Array(memory.buffer, layout.live, layout.rowsMax / 32);
  const clearRow = (row: number) => void Atomics.and(live, row >>> 5, ~(1 << (row & 31)));
  return {
    memory,
    clearRow,
    writeRow(row, rowCodes, scale) {
      clearRow(row);
      codes.set(rowCodes, row * layout.stride);
      scales[row] = scale;
      Atomics.or(live, row >>> 5, 1 << (row & 31));
    },
  };
}
