import { FairQueue } from '../../base/fair-queue.ts';

/** How many requests are begun in one turn of the event loop. */
const begunMax = 8;

/**
 * Lets a few requests begin in each turn of the event loop, callers in turns: hundreds may come at once, in one chunk or batch
 * or from many clients, and all of them begun together would keep everybody else waiting.
 */
export interface Turns {
  /** What to wait for; undefined if this turn still has room. */
  next(caller: string): Promise<void> | undefined;
}

export function createTurns(): Turns {
  const waiting = new FairQueue<() => void>();
  let begun = 0;
  const turn = (): void => {
    const next: (() => void)[] = [];
    for (let each = waiting.take(); each !== undefined; each = next.length < begunMax ? waiting.take() : undefined) {
      next.push(each.item);
    }
    begun = next.length;
    if (begun > 0) setImmediate(turn);
    for (const begin of next) begin();
  };
  return {
    next(caller) {
      if (waiting.size > 0 || begun === begunMax) return new Promise((resolve) => waiting.add(caller, resolve));
      if (begun === 0) setImmediate(turn);
      begun += 1;
      return undefined;
    },
  };
}
