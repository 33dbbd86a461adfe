import { createKernel, type Kernel } from './scan-kernel.ts';
import type { SegmentLayout } from './segment-layout.ts';

/** What the writing thread sees of a segment. The scanning threads get the same memory. */
export interface Segment {
  readonly memory: WebAssembly.Memory;
  /** The writing thread's own. */
  readonly kernel: Kernel;
  groupOf(row: number): number;
  /** Rows that follow one another. The codes lie one behind the other, as long as the dimensions. */
  writeRows(row: number, rows: SegmentRows): void;
  clearRow(row: number): void;
}

export interface SegmentRows {
  readonly codes: Int8Array;
  readonly scales: ArrayLike<number>;
  readonly groups: ArrayLike<number>;
}

export function createSegment(layout: SegmentLayout, dimensions = layout.stride): Segment {
  const pages = Math.ceil(layout.bytes / 65_536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const allCodes = new Int8Array(memory.buffer, layout.codes, layout.rowsMax * layout.stride);
  const allScales = new Float32Array(memory.buffer, layout.scales, layout.rowsMax);
  const allGroups = new Float64Array(memory.buffer, layout.groups, layout.rowsMax);
  const live = new Int32Array(memory.buffer, layout.live, Math.ceil(layout.rowsMax / 32));
  new Uint8Array(memory.buffer, layout.weights, 16).fill(64);
  const kernel = createKernel(memory, layout, 0);
  return {
    memory,
    kernel,
    clearRow: (row) => void Atomics.and(live, row >>> 5, ~(1 << (row & 31))),
    groupOf: (row) => allGroups[row] ?? 0,
    writeRows(row, { codes, scales, groups }) {
      const rowEnd = row + scales.length;
      if (layout.stride === dimensions) allCodes.set(codes, row * layout.stride);
      else
        for (let at = row; at < rowEnd; at += 1) {
          allCodes.set(codes.subarray((at - row) * dimensions, (at - row + 1) * dimensions), at * layout.stride);
        }
      allScales.set(scales, row);
      allGroups.set(groups, row);
      kernel.weigh(row, rowEnd);
      for (let word = row >>> 5; word << 5 < rowEnd; word += 1) {
        Atomics.or(live, word, bitsBelow(rowEnd - 32 * word) & ~bitsBelow(row - 32 * word));
      }
    },
  };
}

/** The lowest `count` of 32 bits, none for a negative count. */
function bitsBelow(count: number): number {
  if (count <= 0) return 0;
  return count >= 32 ? -1 : (1 << count) - 1;
}
