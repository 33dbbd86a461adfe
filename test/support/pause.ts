import { setTimeout as sleep } from 'node:timers/promises';

/** Waits this long, or until the signal aborts; an abort is thrown. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}

/** Looks until there is something. */
export async function until<Result>(
  look: () => Promise<Result | undefined | false> | Result | undefined | false,
): Promise<Result> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(50);
  }
}
