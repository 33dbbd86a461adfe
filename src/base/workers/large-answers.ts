import { FairQueue } from '../fair-queue.ts';

/** Min characters of a large answer, which takes milliseconds to handle. */
const largeChars = 64 * 1024;
const otherItemChars = 8;

/** True if the strings in a value are long in total. Other items count as a few characters each. */
export function isLarge(value: unknown): boolean {
  let remaining = largeChars;
  const reachesLimit = (item: unknown): boolean => {
    if (typeof item === 'string') remaining -= item.length;
    else if (typeof item !== 'object' || item === null || ArrayBuffer.isView(item)) remaining -= otherItemChars;
    else for (const member of Array.isArray(item) ? item : Object.values(item)) if (reachesLimit(member)) return true;
    return remaining <= 0;
  };
  return reachesLimit(value);
}

const waiting = new FairQueue<() => void>();
let isDelivering = false;

/**
 * Delivers one large answer per event loop turn, round-robin by caller. Node handles all waiting thread messages in one turn, so
 * a stream of large answers would starve everything else.
 */
export function deliverFairly(caller: string, deliver: () => void): void {
  waiting.add(caller, deliver);
  if (isDelivering) return;
  isDelivering = true;
  setImmediate(deliverNext);
}

function deliverNext(): void {
  const next = waiting.take();
  if (waiting.size > 0) setImmediate(deliverNext);
  else isDelivering = false;
  next?.item();
}
