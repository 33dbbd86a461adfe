import { FairQueue } from '../../base/fair-queue.ts';

/** Max requests started per event-loop tick. */
const startedMax = 8;

export type RequestPacer = ReturnType<typeof createRequestPacer>;

/**
 * Spreads the start of requests over event-loop ticks, alternating between callers. Otherwise a burst of hundreds from one
 * caller would block all others.
 */
export function createRequestPacer() {
  const waiting = new FairQueue<() => void>();
  let started = 0;
  const tick = (): void => {
    const next: (() => void)[] = [];
    while (next.length < startedMax && waiting.size > 0) {
      const request = waiting.take();
      if (request) next.push(request.item);
    }
    started = next.length;
    if (started > 0) setImmediate(tick);
    for (const begin of next) begin();
  };
  return {
    /** Returns a promise to await before the request starts; undefined if it may start in this tick. */
    next(caller: string): Promise<void> | undefined {
      if (waiting.size > 0 || started === startedMax) return new Promise((resolve) => waiting.add(caller, resolve));
      if (started === 0) setImmediate(tick);
      started += 1;
      return undefined;
    },
  };
}
