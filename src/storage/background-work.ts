import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError, systemCode } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import type { SharedStore } from '../base/shared-store.ts';
import type { BackgroundFailure, BackgroundWatch } from './storage.ts';

/** Runs background steps that no caller waits for. A failed step is logged once, counted, and retried until it succeeds. */
export interface BackgroundWork extends BackgroundWatch {
  /** Runs a step until it succeeds or `close` is called. Never rejects. A pending step of the same name is shared. */
  run(name: string, step: () => Promise<unknown>): Promise<void>;
  /** Stops all retries. A running step ends when its connection is closed. */
  close(): void;
}

export interface BackgroundWorkDeps {
  readonly logger?: Logger | undefined;
  /** Records failures for other processes that use the database, such as `carrel doctor`. */
  readonly shared?: () => Pick<SharedStore, 'put' | 'remove' | 'readAll'> | undefined;
  /** Pause before the first retry, in ms. Doubles with each failure, up to five minutes. */
  readonly retryMs?: number;
}

const retryMaxMs = 300_000;

/** Lifetime of a failure record. The next retry renews it in time. */
const recordMs = 2 * retryMaxMs;
const kind = 'background';

export function createBackgroundWork(deps: BackgroundWorkDeps = {}): BackgroundWork {
  const { logger = silentLogger, shared = () => undefined, retryMs = 1_000 } = deps;
  const stop = new AbortController();
  const running = new Map<string, Promise<void>>();
  const failing = new Map<string, BackgroundFailure>();
  const counts = new Map<string, number>();
  return {
    run(name, step) {
      const current = running.get(name) ?? runUntilDone(name, step).finally(() => running.delete(name));
      running.set(name, current);
      return current;
    },
    async failures() {
      const records = await shared()?.readAll({ kind, part: 0 });
      if (records === undefined) return [...failing.values()];
      return records.map((record): BackgroundFailure => JSON.parse(String(record)));
    },
    counts: () => counts,
    close: () => stop.abort(),
  };

  async function runUntilDone(name: string, step: () => Promise<unknown>): Promise<void> {
    for (let pauseMs = retryMs; !stop.signal.aborted; pauseMs = Math.min(retryMaxMs, 2 * pauseMs)) {
      try {
        await step();
        return await recordSuccess(name);
      } catch (error) {
        if (!stop.signal.aborted) await recordFailure(name, error);
      }
      await delay(pauseMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  async function recordFailure(name: string, error: unknown): Promise<void> {
    const code = isCarrelError(error) ? error.code : (systemCode(error) ?? 'internal');
    const { since, attempts } = failing.get(name) ?? { since: new Date().toISOString(), attempts: 0 };
    if (attempts === 0) logger.warn('background work failed and will be retried', { work: name, code });
    // Unlike the warning above, the error includes the database's own message.
    logger.debug('background work failed', { work: name, error });
    const failure = { name, code, since, attempts: attempts + 1 };
    failing.set(name, failure);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await shared()
      ?.put({ kind, id: name, part: 0 }, Buffer.from(JSON.stringify(failure)), recordMs)
      // If this write fails too, the cause is probably the same.
      .catch(() => {});
  }

  async function recordSuccess(name: string): Promise<void> {
    if (!failing.delete(name)) return;
    logger.info('background work succeeded after a failure', { work: name });
    await shared()
      ?.remove({ kind, id: name })
      // Ignored, because the record expires anyway.
      .catch(() => {});
  }
}
