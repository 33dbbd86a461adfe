import { setTimeout as delay } from 'node:timers/promises';

/** Background work, done after the answer until none is left. */
export interface Backlog {
  /** False while the work fails. */
  readonly available: boolean;
  wake(): void;
  /** Resolves when nothing is left or `waitMs` have passed; at once while the work fails. */
  whenIdle(waitMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface BacklogDeps {
  /** Does part of the work; false when nothing is left. A failure is retried later. */
  doSome(signal: AbortSignal): Promise<boolean>;
  onFailure(error: unknown): void;
}

const retryMinMs = 1_000;
const retryMaxMs = 60_000;

export function createBacklog({ doSome, onFailure }: BacklogDeps): Backlog {
  const stop = new AbortController();
  let available = true;
  let retryMs = retryMinMs;
  let running: Promise<void> | undefined;
  let again = false;

  return {
    get available() {
      return available;
    },
    wake,
    async whenIdle(waitMs) {
      if (available) await Promise.race([running, delay(waitMs, undefined, { ref: false })]);
    },
    async close() {
      stop.abort();
      await running;
    },
  };

  function wake(): void {
    if (stop.signal.aborted) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    again = false;
    running = doAll().finally(() => {
      running = undefined;
      if (again) wake();
    });
  }

  /** Retries failures with growing pauses. */
  async function doAll(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (!(await doSome(stop.signal))) return;
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
