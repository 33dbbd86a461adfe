import { setTimeout as sleep } from 'node:timers/promises';

/** Waits this long. Throws if the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}

/** Polls until there is a result. */
export async function until<Result>(
  look: () => Promise<Result | undefined | false> | Result | undefined | false,
): Promise<Result> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(50);
  }
}
