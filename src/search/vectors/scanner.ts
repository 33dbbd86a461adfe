import assert from 'node:assert/strict';
import type { Kernel } from './scan-kernel.ts';
import { blockRows, type SegmentLayout } from './segment-layout.ts';
import { createTopRows } from './top-rows.ts';

/** What is to be scored, for all threads that share the work. */
export interface ScanTask {
  /** As `quantiseQuery` makes it. */
  readonly query: Uint8Array;
  readonly limit: number;
  readonly rowsUsed: number;
  /** A bit for each row that the filter lets through, in shared memory; without it all live rows are scored. */
  readonly allowed: Int32Array | undefined;
}

/** What one thread found: its best rows with their scores, without the scale of the query, best first. */
export interface ScanPart {
  readonly blocks: number;
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
}

/** The segments as one thread scans them. */
export interface Scanner {
  add(memory: WebAssembly.Memory, kernel: Kernel): void;
  /** Scans blocks of 4,096 rows until `take` gives the number of none that is left. The numbers must ascend. */
  scan(task: ScanTask, take: () => number): ScanPart;
}

/** While the list of the best is not full, everything enters it: a few rows first make the others compete. */
const firstWords = 8;

export function createScanner(layout: SegmentLayout): Scanner {
  const segments: { kernel: Kernel; live: Int32Array }[] = [];
  const blocksPerSegment = Math.ceil(layout.rowsMax / blockRows);

  return {
    add(memory, kernel) {
      segments.push({ kernel, live: new Int32Array(memory.buffer, layout.live, Math.ceil(layout.rowsMax / 32)) });
    },
    scan(task, take) {
      const best = createTopRows(task.limit);
      let asked: Kernel | undefined;
      let wordsAtOnce = firstWords;
      let blocks = 0;
      for (let block = take(); block * blockRows < task.rowsUsed; block = take()) {
        blocks += 1;
        const segment = segments[Math.floor(block / blocksPerSegment)];
        assert(segment, 'a segment that was not added');
        const { kernel, live } = segment;
        if (asked !== kernel) kernel.query.set(task.query);
        asked = kernel;
        const firstRow = (block % blocksPerSegment) * blockRows;
        const offset = block * blockRows - firstRow;
        const words = Math.ceil(Math.min(blockRows, layout.rowsMax, task.rowsUsed - block * blockRows) / 32);
        fillMask(kernel.mask, live.subarray(firstRow / 32, firstRow / 32 + words), task.allowed, block);
        for (let word = 0; word < words; word += wordsAtOnce) {
          if (word > 0) wordsAtOnce *= 2;
          const kept = kernel.scan(firstRow, word, Math.min(word + wordsAtOnce, words), best.threshold);
          for (let at = 0; at < kept; at += 1) best.offer(offset + (kernel.rows[at] ?? 0), kernel.scores[at] ?? 0);
        }
      }
      return { blocks, ...best.sorted() };
    },
  };
}

/** The filter is applied here, before anything is scored: a filtered search ranks what it may show and nothing else. */
function fillMask(mask: Int32Array, live: Int32Array, allowed: Int32Array | undefined, block: number): void {
  if (allowed === undefined) {
    mask.set(live);
    return;
  }
  const first = (block * blockRows) / 32;
  for (let word = 0; word < live.length; word += 1) {
    mask[word] = (live[word] ?? 0) & (allowed[first + word] ?? 0);
  }
}
