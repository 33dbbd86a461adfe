/** How many requests are begun in one turn of the event loop. */
const begunMax = 8;

/**
 * Lets requests begin in their order, a few in each turn of the event loop: hundreds may come at once, in one chunk or batch or from
 * many clients, and all of them begun together would keep everybody else waiting.
 */
export interface Turns {
  /** What to wait for; undefined if this turn still has room. */
  next(): Promise<void> | undefined;
}

export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const turn = (): void => {
    const next = waiting.splice(0, begunMax);
    begun = next.length;
    if (begun > 0) setImmediate(turn);
    for (const begin of next) begin();
  };
  return {
    next() {
      if (waiting.length > 0 || begun === begunMax) return new Promise((resolve) => waiting.push(resolve));
      if (begun === 0) setImmediate(turn);
      begun += 1;
      return undefined;
    },
  };
}
