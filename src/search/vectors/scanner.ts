import assert from 'node:assert/strict';
import { type IdPages, type IdSet, idSetOf } from '../../storage/id-set.ts';
import type { Kernel } from './scan-kernel.ts';
import { blockRows, type SegmentLayout } from './segment-layout.ts';
import { createTopRows } from './top-rows.ts';

/** What is to be scored, for all threads that share the work. */
export interface ScanTask {
  /** As `quantiseQuery` makes it. */
  readonly query: Uint8Array;
  readonly limit: number;
  readonly rowsUsed: number;
  /** The groups that pass the filter; without it all live rows are scored. */
  readonly allowed: IdPages | undefined;
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

/** Everything enters the list of the best until it is full, so a few rows are scanned first to set a threshold. */
const firstWords = 8;

export function createScanner(layout: SegmentLayout): Scanner {
  const segments: ScannedSegment[] = [];
  const blocksPerSegment = Math.ceil(layout.rowsMax / blockRows);

  return {
    add(memory, kernel) {
      segments.push({
        kernel,
        live: new Int32Array(memory.buffer, layout.live, Math.ceil(layout.rowsMax / 32)),
        groups: new Float64Array(memory.buffer, layout.groups, layout.rowsMax),
      });
    },
    scan(task, take) {
      const best = createTopRows(task.limit);
      const allowed = task.allowed && idSetOf(task.allowed);
      let asked: Kernel | undefined;
      let wordsAtOnce = firstWords;
      let blocks = 0;
      for (let block = take(); block * blockRows < task.rowsUsed; block = take()) {
        blocks += 1;
        const segment = segments[Math.floor(block / blocksPerSegment)];
        assert(segment, 'a segment that was not added');
        const { kernel } = segment;
        if (asked !== kernel) kernel.query.set(task.query);
        asked = kernel;
        const firstRow = (block % blocksPerSegment) * blockRows;
        const offset = block * blockRows - firstRow;
        const rows = Math.min(blockRows, layout.rowsMax, task.rowsUsed - block * blockRows);
        const words = Math.ceil(rows / 32);
        fillMask(segment, firstRow, rows, allowed);
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

interface ScannedSegment {
  readonly kernel: Kernel;
  readonly live: Int32Array;
  readonly groups: Float64Array;
}

/** The filter is applied here, before anything is scored: a filtered search ranks only what it may show. */
function fillMask(segment: ScannedSegment, firstRow: number, rows: number, allowed: IdSet | undefined): void {
  const { mask } = segment.kernel;
  const live = segment.live.subarray(firstRow / 32, Math.ceil((firstRow + rows) / 32));
  if (allowed === undefined) {
    mask.set(live);
    return;
  }
  allowed.mark(segment.groups.subarray(firstRow, firstRow + rows), mask);
  for (let word = 0; word < live.length; word += 1) mask[word] = (mask[word] ?? 0) & (live[word] ?? 0);
}
