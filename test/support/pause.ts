import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for this many milliseconds. Throws if the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}

/** Calls `look` until it returns a result, and returns that. */
export async function until<Result>(
  look: () => Promise<Result | undefined | false> | Result | undefined | false,
): Promise<Result> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(50);
  }
}
