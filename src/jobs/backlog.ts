import { setTimeout as delay } from 'node:timers/promises';

export interface BacklogDeps {
  /** Does part of the work. Returns false when nothing is left. Called again later if it throws. */
  doPart(signal: AbortSignal): Promise<boolean>;
  onFailure(error: unknown): void;
}

const retryMinMs = 1_000;
const retryMaxMs = 60_000;

/** Does background work in parts until none is left. */
export function createBacklog({ doPart, onFailure }: BacklogDeps) {
  const stop = new AbortController();
  let available = true;
  let retryMs = retryMinMs;
  let running: Promise<void> | undefined;
  let isWokenAgain = false;

  return {
    /** False after a failure, until some work succeeds again. */
    get available() {
      return available;
    },
    wake,
    /** Resolves when no work is left, or after `waitMs`. Resolves immediately while `available` is false. */
    async whenIdle(waitMs: number): Promise<void> {
      if (available) await Promise.race([running, delay(waitMs, undefined, { ref: false })]);
    },
    async close(): Promise<void> {
      stop.abort();
      await running;
    },
  };

  function wake(): void {
    if (stop.signal.aborted) return;
    if (running !== undefined) {
      isWokenAgain = true;
      return;
    }
    isWokenAgain = false;
    running = doAll().finally(() => {
      running = undefined;
      if (isWokenAgain) wake();
    });
  }

  /** Retries failures with growing pauses. */
  async function doAll(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (!(await doPart(stop.signal))) return;
        available = true;
        retryMs = retryMinMs;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (available) onFailure(error);
        available = false;
        await delay(retryMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
        retryMs = Math.min(retryMaxMs, retryMs * 2);
      }
    }
  }
}
