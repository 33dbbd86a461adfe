import { FairQueue } from '../fair-queue.ts';

/** From this many characters on, what is done with an answer takes milliseconds. */
const largeChars = 64 * 1024;

/** Whether the texts of a value are long altogether. Looks no further than it must. */
export function isLarge(value: unknown): boolean {
  let left = largeChars;
  const look = (item: unknown): boolean => {
    if (typeof item === 'string') left -= item.length;
    else if (typeof item !== 'object' || item === null || ArrayBuffer.isView(item)) left -= 8;
    else for (const member of Array.isArray(item) ? item : Object.values(item)) if (look(member)) return true;
    return left <= 0;
  };
  return look(value);
}

const waiting = new FairQueue<() => void>();
let isTaking = false;

/**
 * Takes large answers one in each turn of the event loop, callers in turns. Messages of threads are delivered until none is
 * left: with an answer ready as soon as the one before it was serialised, nobody else would ever be served.
 */
export function inItsTurn(caller: string, take: () => void): void {
  waiting.add(caller, take);
  if (isTaking) return;
  isTaking = true;
  setImmediate(takeNext);
}

function takeNext(): void {
  const next = waiting.take();
  if (waiting.size > 0) setImmediate(takeNext);
  else isTaking = false;
  next?.item();
}
