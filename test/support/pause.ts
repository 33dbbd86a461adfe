import { setTimeout as sleep } from 'node:timers/promises';

/** Waits this long, or until the signal aborts; an abort is thrown. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}
