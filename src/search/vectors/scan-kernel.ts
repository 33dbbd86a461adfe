import assert from 'node:assert/strict';
import { scanKernelBase64 } from './scan-kernel-bytes.ts';
import { blockRows, type SegmentLayout } from './segment.ts';
import type { TopRows } from './top-rows.ts';

/**
 * The SIMD scan of one segment. Offers the rows whose bit is set in the segment's mask, and which can still enter, to
 * `best`. The query and the mask must have been written to the segment before.
 */
export type Scan = (rowsUsed: number, queryScale: number, best: TopRows, rowOffset: number) => void;

export function createScan(memory: WebAssembly.Memory, layout: SegmentLayout): Scan {
  const scan = new WebAssembly.Instance(kernel(), { segment: { memory } }).exports['scan'];
  assert(scan, 'the kernel exports scan');
  const rows = new Uint32Array(memory.buffer, layout.rowsOut, blockRows);
  const scores = new Float32Array(memory.buffer, layout.scoresOut, blockRows);
  return (rowsUsed, queryScale, best, rowOffset) => {
    const wordsUsed = Math.ceil(rowsUsed / 32);
    const { mask, codes, stride, scales, query, rowsOut, scoresOut } = layout;
    // Block by block, so that what the first blocks hold keeps most later rows out of the list of candidates.
    for (let word = 0; word < wordsUsed; word += blockRows / 32) {
      const wordEnd = Math.min(word + blockRows / 32, wordsUsed);
      const threshold = best.threshold / queryScale;
      const kept = scan(mask, word, wordEnd, codes, stride, scales, query, threshold, rowsOut, scoresOut);
      for (let index = 0; index < kept; index++) {
        best.offer((rows[index] ?? 0) + rowOffset, (scores[index] ?? 0) * queryScale);
      }
    }
  };
}

let compiled: WebAssembly.Module | undefined;

function kernel(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(Buffer.from(scanKernelBase64, 'base64'));
  return compiled;
}
