import { setTimeout as sleep } from 'node:timers/promises';

const pauseMaxMs = 200;

/** Waits for this many milliseconds. Throws if the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}

/**
 * Calls `check` until it returns a result, and returns that. The pauses grow up to `pauseMaxMs`: a quick result is seen quickly,
 * and waiting for a slow one takes little CPU time.
 */
export async function until<Result>(
  check: () => Promise<Result | undefined | false> | Result | undefined | false,
): Promise<Result> {
  for (let ms = 5; ; ms = Math.min(2 * ms, pauseMaxMs)) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    await pause(ms);
  }
}
