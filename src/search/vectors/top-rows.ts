/** Collects the best rows of a scan in a bounded heap. Of equal scores the row that was offered first stays. */
export interface TopRows {
  /** A row must score more than this to enter. */
  readonly threshold: number;
  /** Scores are of 32 bits. */
  offer(row: number, score: number): void;
  /** Best first; equal scores by row. */
  sorted(): { rows: Uint32Array; scores: Float32Array };
}

export function createTopRows(limit: number): TopRows {
  // The worst is at the root. Grows as it is filled: a limit may be far above what there is.
  let rows = new Uint32Array(Math.min(limit, 256));
  let scores = new Float32Array(rows.length);
  let size = 0;
  let threshold = limit > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;

  const put = (at: number, row: number, score: number): void => {
    rows[at] = row;
    scores[at] = score;
  };
  const scoreAt = (at: number): number => scores[at] ?? 0;
  const rowAt = (at: number): number => rows[at] ?? 0;
  /** The lowest score and, of equal scores, the highest row. */
  const isWorse = (row: number, score: number, at: number): boolean =>
    score < scoreAt(at) || (score === scoreAt(at) && row > rowAt(at));

  function grow(): void {
    const length = Math.min(limit, 4 * rows.length);
    const [largerRows, largerScores] = [new Uint32Array(length), new Float32Array(length)];
    largerRows.set(rows);
    largerScores.set(scores);
    [rows, scores] = [largerRows, largerScores];
  }

  function rise(row: number, score: number): void {
    let at = size - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isWorse(row, score, parent)) break;
      put(at, rowAt(parent), scoreAt(parent));
      at = parent;
    }
    put(at, row, score);
  }

  function sink(row: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && isWorse(rowAt(child + 1), scoreAt(child + 1), child)) child += 1;
      if (isWorse(row, score, child)) break;
      put(at, rowAt(child), scoreAt(child));
      at = child;
    }
    put(at, row, score);
  }

  return {
    get threshold() {
      return threshold;
    },
    offer(row, score) {
      if (size < limit) {
        if (size === rows.length) grow();
        size += 1;
        rise(row, score);
        if (size === limit) threshold = scoreAt(0);
      } else if (score > threshold) {
        sink(row, score);
        threshold = scoreAt(0);
      }
    },
    sorted() {
      const order = Array.from({ length: size }, (_, at) => at);
      order.sort((left, right) => scoreAt(right) - scoreAt(left) || rowAt(left) - rowAt(right));
      return { rows: Uint32Array.from(order, rowAt), scores: Float32Array.from(order, scoreAt) };
    },
  };
}
