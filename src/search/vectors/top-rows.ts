/** Collects the best rows of a scan in a bounded heap. Of equal scores the row that was offered first stays. */
export interface TopRows {
  /** A row must score more than this to enter. */
  readonly threshold: number;
  offer(row: number, score: number): void;
  /** Best first; equal scores by row. */
  sorted(): ScoredRow[];
}

export interface ScoredRow {
  row: number;
  score: number;
}

export function createTopRows(limit: number): TopRows {
  const heap: ScoredRow[] = [];
  const worse = (left: number, right: number) => compareWorst(heap[left], heap[right]) < 0;
  const swap = (left: number, right: number) => {
    const [first, second] = [heap[left], heap[right]];
    if (first && second) [heap[left], heap[right]] = [second, first];
  };
  const rise = (start: number) => {
    for (let at = start; at > 0 && worse(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1);
  };
  const sink = () => {
    for (let at = 0; ; ) {
      let lowest = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && worse(child, lowest)) lowest = child;
      if (lowest === at) return;
      swap(at, lowest);
      at = lowest;
    }
  };
  return {
    get threshold() {
      return heap.length < limit ? Number.NEGATIVE_INFINITY : (heap[0]?.score ?? Number.POSITIVE_INFINITY);
    },
    offer(row, score) {
      if (heap.length < limit) {
        heap.push({ row, score });
        rise(heap.length - 1);
      } else if (score > this.threshold) {
        heap[0] = { row, score };
        sink();
      }
    },
    sorted: () => [...heap].sort((left, right) => right.score - left.score || left.row - right.row),
  };
}

/** The worst comes first: the lowest score and, of equal scores, the highest row. */
function compareWorst(left: ScoredRow | undefined, right: ScoredRow | undefined): number {
  if (!left || !right) return 0;
  return left.score - right.score || right.row - left.row;
}
