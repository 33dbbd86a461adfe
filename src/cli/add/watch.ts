import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isUnreachable } from '../../engine/wait-for-job.ts';
import { type Mirror, writeGraceMs } from './mirror.ts';
import type { Reporter } from './report.ts';

export interface WatchConfig {
  readonly folders: readonly string[];
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Interval between full scans, because not every file system reports every change. */
const rescanMs = 60_000;

/** Interval between scans if the system reports no changes at all. */
const pollMs = 2_000;

/** A burst of events counts as one change. It ends after `quietMs` without events, or after `burstMaxMs`. */
const quietMs = 150;
const burstMaxMs = 2_000;

const retryMinMs = 500;
const retryMaxMs = 30_000;

/**
 * Scans whenever something may have changed, until the signal aborts. Events only trigger a scan, which finds out what changed.
 */
export async function watchFolders(mirror: Mirror, { folders, reporter, signal }: WatchConfig): Promise<void> {
  const changes = createChanges(folders);
  let retryMs = retryMinMs;
  let isFirst = true;
  try {
    reporter.report({ event: 'watching', folders: [...folders] });
    while (!signal.aborted) {
      try {
        const { files, changed, mayBeIncomplete } = await mirror.sync();
        retryMs = retryMinMs;
        if (mayBeIncomplete) {
          await delay(writeGraceMs, undefined, { signal });
          continue;
        }
        if (changed || isFirst) reporter.report({ event: 'in_step', files });
        isFirst = false;
        if (!(await changes.next(signal))) mirror.forgetDocuments();
      } catch (error) {
        if (signal.aborted) return;
        if (!isUnreachable(error)) throw error;
        mirror.forgetDocuments();
        reporter.report({
          event: 'waiting',
          reason: error instanceof Error ? error.message : 'the engine is unreachable',
        });
        await delay(retryMs, undefined, { signal });
        retryMs = Math.min(retryMaxMs, retryMs * 2);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    changes.close();
  }
}

interface Changes {
  /** Resolves to true after a burst of events, or false after the rescan interval. */
  next(signal: AbortSignal): Promise<boolean>;
  close(): void;
}

function createChanges(folders: readonly string[]): Changes {
  let eventAt: number | undefined;
  let wake = () => {};
  let waitMs = rescanMs;
  const onEvent = () => {
    eventAt = performance.now();
    wake();
  };
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, { recursive: true, persistent: false }, onEvent);
      watcher.on('error', () => {
        // The folder was removed, or the system's limit on watched files is reached.
        waitMs = pollMs;
        onEvent();
      });
      return [watcher];
    } catch {
      waitMs = pollMs;
      return [];
    }
  });

  const waitForEvent = (ms: number, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const abort = () => reject(signal.reason);
    wake = resolve;
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      wake = () => {};
    });
  };

  return {
    async next(signal) {
      if (eventAt === undefined) await waitForEvent(waitMs, signal);
      if (eventAt === undefined) return false;
      const burstEndsAt = performance.now() + burstMaxMs;
      for (let now = performance.now(); now < burstEndsAt && now - eventAt < quietMs; now = performance.now()) {
        await delay(quietMs - (now - eventAt), undefined, { signal });
      }
      eventAt = undefined;
      return true;
    },
    close() {
      for (const watcher of watchers) watcher.close();
    },
  };
}
