import assert from 'node:assert/strict';
import { scanKernelBase64 } from './scan-kernel-bytes.ts';

/** Max rows per kernel call. */
export const blockRows = 4096;

/** Rows per segment. Unused memory pages take no space, so a small index stays small. */
export const segmentRows = 65_536;

export type SegmentLayout = ReturnType<typeof segmentLayout>;

/** Returns byte offsets in a segment's memory, all multiples of 16. */
export function segmentLayout(dimensions: number) {
  /** Bytes per row of codes: the dimensions, rounded up to the kernel's step. */
  const stride = Math.ceil(dimensions / 16) * 16;
  const scales = segmentRows * stride;
  /** Filter keys, eight bytes per row. */
  const groups = scales + segmentRows * 4;
  /** A bit per row, set if the row has a vector. Set after the row is written, cleared before it is reused. */
  const live = groups + segmentRows * 8;
  const scratches = live + segmentRows / 8;
  const scratchBytes = stride * 2 + blockRows / 8 + blockRows * 8;
  const bytes = scratches + 2 * scratchBytes;
  return { dimensions, stride, scales, groups, live, scratches, scratchBytes, bytes };
}

/** One thread's view of a segment. Both threads share the memory; only one writes. */
export type Segment = ReturnType<typeof openSegment>;

interface SegmentRows {
  readonly codes: Int8Array;
  readonly scales: ArrayLike<number>;
  readonly groups: ArrayLike<number>;
}

export function createMemory({ bytes }: SegmentLayout): WebAssembly.Memory {
  const pages = Math.ceil(bytes / 65_536);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/**
 * Opens a segment's memory. `scanner` selects the scratch space, because two scans can run at the same time: on the writing
 * thread (0) and on the scan thread (1).
 */
export function openSegment(memory: WebAssembly.Memory, layout: SegmentLayout, scanner: 0 | 1) {
  const { dimensions, stride } = layout;
  const { buffer } = memory;
  const allCodes = new Int8Array(buffer, 0, segmentRows * stride);
  const allScales = new Float32Array(buffer, layout.scales, segmentRows);
  const groups = new Float64Array(buffer, layout.groups, segmentRows);
  const live = new Int32Array(buffer, layout.live, segmentRows / 32);
  const query = layout.scratches + scanner * layout.scratchBytes;
  const mask = query + stride * 2;
  const rowsOut = mask + blockRows / 8;
  const scoresOut = rowsOut + blockRows * 4;
  compiled ??= new WebAssembly.Module(Buffer.from(scanKernelBase64, 'base64'));
  const { scan } = new WebAssembly.Instance(compiled, { segment: { memory } }).exports;
  assert(scan, 'the kernel has no scan function');
  return {
    memory,
    groups,
    live,
    /** The query of the next scans. */
    query: new Int16Array(buffer, query, stride),
    /** A bit per row of the block, set if the row should be scored. */
    mask: new Int32Array(buffer, mask, blockRows / 32),
    rows: new Uint32Array(buffer, rowsOut, blockRows),
    scores: new Float32Array(buffer, scoresOut, blockRows),
    /**
     * Scores the rows marked in the mask words from `word` up to, but not including, `wordEnd`. The mask starts at `firstRow`.
     * Writes results above the threshold to `rows` and `scores`, and returns how many.
     */
    scan: (firstRow: number, word: number, wordEnd: number, threshold: number): number =>
      scan(mask, word, wordEnd, firstRow + 32 * word, 0, stride, layout.scales, query, threshold, rowsOut, scoresOut),
    /** Writes consecutive rows from `row` on. `codes` has the codes of all rows, one after the other. */
    writeRows(row: number, { codes, scales, groups: rowGroups }: SegmentRows): void {
      for (let at = 0; at < scales.length; at += 1) {
        allCodes.set(codes.subarray(at * dimensions, (at + 1) * dimensions), (row + at) * stride);
      }
      allScales.set(scales, row);
      groups.set(rowGroups, row);
      for (let at = row; at < row + scales.length; at += 1) Atomics.or(live, at >>> 5, 1 << (at & 31));
    },
    clearRow: (row: number): void => void Atomics.and(live, row >>> 5, ~(1 << (row & 31))),
  };
}

let compiled: WebAssembly.Module | undefined;
