/** Rows that the kernel looks at in one call, at most; its list of candidates has room for so many. */
export const blockRows = 4096;

/**
 * Rows in a segment. Untouched pages of a segment take no memory, so a small index stays small; at 384 dimensions a
 * full segment takes 26.4 MB, which makes 403 MB for a million vectors.
 */
export const segmentRows = 65_536;

/** Threads that may scan a segment at the same time: each has a place for its query. The first is the thread that writes. */
const scannersMax = 5;

/** Where the parts of a segment lie in its memory, as byte offsets. All are multiples of 16 where `rowsMax` is one of 32. */
export interface SegmentLayout {
  rowsMax: number;
  /** Bytes from one row's codes to the next: the dimensions, rounded up to what the kernel reads in one step. */
  stride: number;
  codes: number;
  scales: number;
  /** What the kernel's way to add up has too much in a row's sum, negative (scan-kernel.wat). */
  biases: number;
  /** Of what a filter can be asked for: eight bytes for a row. */
  groups: number;
  /** A bit for each row that holds a vector. Set after the row was written, cleared before it is given up. */
  live: number;
  /** Sixteen bytes of 64. */
  weights: number;
  scratches: number;
  bytes: number;
}

/** What one thread needs for one query, as byte offsets. */
export interface ScratchLayout {
  query: number;
  /** Live rows of a block that the filter of the query lets through. */
  mask: number;
  four: number;
  rowsOut: number;
  scoresOut: number;
}

export function segmentLayout(dimensions: number, rowsMax = segmentRows): SegmentLayout {
  const stride = Math.ceil(dimensions / 16) * 16;
  const codes = 0;
  const scales = codes + rowsMax * stride;
  const biases = scales + rowsMax * 4;
  const groups = biases + rowsMax * 4;
  const live = groups + rowsMax * 8;
  const weights = live + Math.ceil(rowsMax / 128) * 16;
  const scratches = weights + 16;
  const bytes = scratchLayout({ stride, scratches }, scannersMax).query;
  return { rowsMax, stride, codes, scales, biases, groups, live, weights, scratches, bytes };
}

export function scratchLayout(
  { stride, scratches }: Pick<SegmentLayout, 'stride' | 'scratches'>,
  scanner: number,
): ScratchLayout {
  const query = scratches + scanner * (stride + blockRows / 8 + 32 + blockRows * 8);
  const mask = query + stride;
  const four = mask + blockRows / 8;
  const rowsOut = four + 32;
  return { query, mask, four, rowsOut, scoresOut: rowsOut + blockRows * 4 };
}
