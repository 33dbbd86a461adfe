import assert from 'node:assert/strict';
import { blockRows, type Segment, segmentRows } from './segment.ts';

/** A search for the nearest rows. */
export interface ScanTask {
  readonly query: Int8Array;
  readonly limit: number;
  readonly rowsUsed: number;
  /** The groups that pass the filter. Undefined for all live rows. */
  readonly allowed: readonly number[] | undefined;
}

export interface ScoredRow {
  readonly row: number;
  readonly score: number;
}

/** Number of 32-bit mask words in the first scan. Few, because without a threshold it returns every row. */
const firstWords = 8;

const blocksPerSegment = segmentRows / blockRows;

/** Returns the best rows, best first. The caller must multiply the scores by the query's scale. */
export function scanRows(segments: readonly Segment[], task: ScanTask): ScoredRow[] {
  const allowed = task.allowed && new Set(task.allowed);
  let best: ScoredRow[] = [];
  let threshold = Number.NEGATIVE_INFINITY;
  let current: Segment | undefined;
  let wordsPerScan = firstWords;
  for (let block = 0; block * blockRows < task.rowsUsed; block += 1) {
    const segment = segments[Math.floor(block / blocksPerSegment)];
    assert(segment, 'the segment was not added');
    if (current !== segment) segment.query.set(task.query);
    current = segment;
    const firstRow = (block % blocksPerSegment) * blockRows;
    const offset = block * blockRows - firstRow;
    const rows = Math.min(blockRows, task.rowsUsed - block * blockRows);
    const words = Math.ceil(rows / 32);
    fillMask(segment, firstRow, rows, allowed);
    for (let word = 0; word < words; word += wordsPerScan) {
      if (word > 0) wordsPerScan *= 2;
      const count = segment.scan(firstRow, word, Math.min(word + wordsPerScan, words), threshold);
      for (let at = 0; at < count; at += 1) {
        best.push({ row: offset + (segment.rows[at] ?? 0), score: segment.scores[at] ?? 0 });
      }
      if (best.length >= 2 * task.limit) {
        best = bestOf(best, task.limit);
        threshold = best.at(-1)?.score ?? Number.POSITIVE_INFINITY;
      }
    }
  }
  return bestOf(best, task.limit);
}

/** Returns the best rows, best first. Ties go to the lower row. */
function bestOf(rows: readonly ScoredRow[], limit: number): ScoredRow[] {
  return rows.toSorted(byScore).slice(0, limit);
}

/** Returns only integers: each fraction would allocate memory, in every comparison of every search. */
function byScore(left: ScoredRow, right: ScoredRow): number {
  if (left.score !== right.score) return left.score < right.score ? 1 : -1;
  return left.row - right.row;
}

/** Marks the rows to score: live ones whose group passes the filter. */
function fillMask(
  { live, groups, mask }: Segment,
  firstRow: number,
  rows: number,
  allowed: ReadonlySet<number> | undefined,
): void {
  mask.set(live.subarray(firstRow / 32, Math.ceil((firstRow + rows) / 32)));
  if (allowed === undefined) return;
  for (let at = 0; at < rows; at += 1) {
    if (!allowed.has(groups[firstRow + at] ?? 0)) mask[at >>> 5] = (mask[at >>> 5] ?? 0) & ~(1 << (at & 31));
  }
}
