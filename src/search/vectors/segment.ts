import { createKernel, type Kernel } from './scan-kernel.ts';
import type { SegmentLayout } from './segment-layout.ts';

/** What the writing thread sees of a segment. The scanning threads get the same memory. */
export interface Segment {
  readonly memory: WebAssembly.Memory;
  /** The writing thread's own. */
  readonly kernel: Kernel;
  /** Rows that follow one another. The codes lie one behind the other, as long as the dimensions. */
  writeRows(row: number, codes: Int8Array, scales: ArrayLike<number>): void;
  clearRow(row: number): void;
}

export function createSegment(layout: SegmentLayout, dimensions = layout.stride): Segment {
  const pages = Math.ceil(layout.bytes / 65_536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const allCodes = new Int8Array(memory.buffer, layout.codes, layout.rowsMax * layout.stride);
  const allScales = new Float32Array(memory.buffer, layout.scales, layout.rowsMax);
  const live = new Int32Array(memory.buffer, layout.live, Math.ceil(layout.rowsMax / 32));
  new Uint8Array(memory.buffer, layout.weights, 16).fill(64);
  const kernel = createKernel(memory, layout, 0);
  return {
    memory,
    kernel,
    clearRow: (row) => void Atomics.and(live, row >>> 5, ~(1 << (row & 31))),
    writeRows(row, codes, scales) {
      const rowEnd = row + scales.length;
      if (layout.stride === dimensions) allCodes.set(codes, row * layout.stride);
      else
        for (let at = row; at < rowEnd; at += 1) {
          allCodes.set(codes.subarray((at - row) * dimensions, (at - row + 1) * dimensions), at * layout.stride);
        }
      allScales.set(scales, row);
      kernel.weigh(row, rowEnd);
      for (let at = row; at < rowEnd; at += 1) Atomics.or(live, at >>> 5, 1 << (at & 31));
    },
  };
}
