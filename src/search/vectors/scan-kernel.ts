import assert from 'node:assert/strict';
import { plainKernelBase64, scanKernelBase64 } from './scan-kernel-bytes.ts';
import { blockRows, type SegmentLayout, scratchLayout } from './segment-layout.ts';

/** The SIMD kernel over one segment, and the scratch that one thread has there. */
export interface Kernel {
  /** The query of the next scans; its bytes are those of `quantiseQuery`. */
  readonly query: Uint8Array;
  /** The rows of the block that are to be scored, a bit for each. */
  readonly mask: Int32Array;
  /** What the last scan kept. */
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
  /**
   * Scores the rows of the words `word` to `wordEnd` of the mask, whose first word stands for the rows from `firstRow` on.
   * The number of those above the threshold. Scores are without the scale of the query.
   */
  scan(firstRow: number, word: number, wordEnd: number, threshold: number): number;
  /** To be called for rows whose codes were written. */
  weigh(row: number, rowEnd: number): void;
}

export function createKernel(
  memory: WebAssembly.Memory,
  layout: SegmentLayout,
  scanner: number,
  module = kernelModule(),
): Kernel {
  const { scan, weigh } = new WebAssembly.Instance(module, { segment: { memory } }).exports;
  assert(scan && weigh, 'the kernel exports both');
  const { codes, stride, scales, biases, weights } = layout;
  const { query, mask, four, rowsOut, scoresOut } = scratchLayout(layout, scanner);
  return {
    query: new Uint8Array(memory.buffer, query, stride),
    mask: new Int32Array(memory.buffer, mask, blockRows / 32),
    rows: new Uint32Array(memory.buffer, rowsOut, blockRows),
    scores: new Float32Array(memory.buffer, scoresOut, blockRows),
    scan: (firstRow, word, wordEnd, threshold) =>
      scan(
        ...[mask, word, wordEnd, firstRow + 32 * word, codes, stride, scales, biases, query],
        ...[threshold, rowsOut, scoresOut, four],
      ),
    weigh: (row, rowEnd) => void weigh(row, rowEnd, codes, stride, biases, weights),
  };
}

let compiled: WebAssembly.Module | undefined;

/** Sixteen products at once are relaxed SIMD, which an engine or a processor may lack; the plain kernel gives the same. */
function kernelModule(): WebAssembly.Module {
  if (compiled === undefined) {
    const bytes = Buffer.from(scanKernelBase64, 'base64');
    compiled = WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : plainModule();
  }
  return compiled;
}

export function plainModule(): WebAssembly.Module {
  return new WebAssembly.Module(Buffer.from(plainKernelBase64, 'base64'));
}
