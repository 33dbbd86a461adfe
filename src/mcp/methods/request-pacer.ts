import { FairQueue } from '../../base/fair-queue.ts';

/** Max requests started per event-loop tick. */
const begunMax = 8;

/**
 * Spreads the start of requests over event-loop ticks, alternating between callers: a burst of hundreds would
 * otherwise block everyone else.
 */
export interface RequestPacer {
  /** A promise to wait for; undefined if this tick still has room. */
  next(caller: string): Promise<void> | undefined;
}

export function createRequestPacer(): RequestPacer {
  const waiting = new FairQueue<() => void>();
  let begun = 0;
  const tick = (): void => {
    const next: (() => void)[] = [];
    for (let each = waiting.take(); each !== undefined; each = next.length < begunMax ? waiting.take() : undefined) {
      next.push(each.item);
    }
    begun = next.length;
    if (begun > 0) setImmediate(tick);
    for (const begin of next) begin();
  };
  return {
    next(caller) {
      if (waiting.size > 0 || begun === begunMax) return new Promise((resolve) => waiting.add(caller, resolve));
      if (begun === 0) setImmediate(tick);
      begun += 1;
      return undefined;
    },
  };
}
