import { isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { TaskView } from '../../jobs/task.ts';
import type { Call, Caller } from '../../tools/call.ts';

/** One client's subscriptions. */
export interface Watch {
  /** Subscribes to the list of resources. Returns false if it can't be watched. */
  watchList(): Promise<boolean>;
  watchResource(uri: string): Promise<boolean>;
  unwatchResource(uri: string): void;
  /** Subscribes to a task. Returns undefined if it isn't this caller's. */
  watchTask(taskId: string): Promise<TaskView | undefined>;
  close(): void;
}

export type Notify = (method: string, params?: Record<string, unknown>) => void;

/**
 * Notifies clients of changes. While there are subscriptions, polls the watched items every few seconds, one after another,
 * and soon after a write in this process. Polling also finds changes by other processes, and merges bursts of changes.
 */
export interface Watches {
  open(caller: Caller, notify: Notify): Watch;
  /** Hints that something has changed. */
  wake(): void;
  close(): void;
}

export interface WatchesOptions {
  resourcesOf(caller: Caller): { fingerprint(uri: string | undefined, call: Call): Promise<string | undefined> };
  taskOf(taskId: string, call: Call): Promise<TaskView>;
  log: Logger;
  everyMs?: number;
}

/** Max subscriptions per client. */
export const watchedMax = 100;
const everyMsDefault = 5_000;
const soonMs = 200;

export function createWatches(options: WatchesOptions): Watches {
  const { resourcesOf, taskOf, log, everyMs = everyMsDefault } = options;
  const checks = new Set<() => Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isWakePending = false;
  let isChecking = false;

  const schedule = (ms: number): void => {
    clearTimeout(timer);
    timer = checks.size === 0 ? undefined : setTimeout(() => void checkAll(), ms).unref();
  };

  const checkAll = async (): Promise<void> => {
    isChecking = true;
    isWakePending = false;
    for (const check of [...checks])
      await check().catch((error: unknown) => log.debug('could not check subscriptions for changes', { error }));
    isChecking = false;
    schedule(isWakePending ? soonMs : everyMs);
  };

  const wake = (): void => {
    if (isWakePending || checks.size === 0) return;
    isWakePending = true;
    if (!isChecking) schedule(soonMs);
  };

  const open = (caller: Caller, notify: Notify): Watch => {
    const controller = new AbortController();
    const call: Call = { caller, signal: controller.signal, report() {}, log };
    const uris = new Map<string, string>();
    const tasks = new Map<string, string>();
    let list: string | undefined;

    /** Returns a fingerprint that changes with the resource. Undefined if it can't be watched, or can't be read now. */
    const fingerprintOf = async (uri: string | undefined): Promise<string | undefined> => {
      try {
        return await resourcesOf(caller).fingerprint(uri, call);
      } catch (error) {
        return isCarrelError(error) && error.code === 'resource_not_found' ? goneFingerprint : undefined;
      }
    };

    const checkTask = async (taskId: string, previous: string): Promise<void> => {
      const view = await taskOf(taskId, call).catch(() => undefined);
      if (!tasks.has(taskId) || view === undefined) return;
      const state = stateOf(view);
      if (hasEnded(view)) tasks.delete(taskId);
      else tasks.set(taskId, state);
      if (state !== previous) notify('notifications/tasks', { ...view });
    };

    const check = async (): Promise<void> => {
      if (list !== undefined) {
        const fingerprint = (await fingerprintOf(undefined)) ?? list;
        if (fingerprint !== list && !controller.signal.aborted) notify('notifications/resources/list_changed');
        list = fingerprint;
      }
      for (const [uri, previous] of [...uris]) {
        const fingerprint = (await fingerprintOf(uri)) ?? previous;
        if (!uris.has(uri) || fingerprint === previous) continue;
        uris.set(uri, fingerprint);
        notify('notifications/resources/updated', { uri });
      }
      for (const [taskId, previous] of [...tasks]) await checkTask(taskId, previous);
    };

    const start = (): void => {
      if (controller.signal.aborted || checks.has(check)) return;
      checks.add(check);
      if (timer === undefined && !isChecking) schedule(everyMs);
    };

    return {
      async watchList() {
        list ??= await fingerprintOf(undefined);
        if (list === undefined) return false;
        start();
        return true;
      },
      async watchResource(uri) {
        if (uris.has(uri)) return true;
        const fingerprint = uris.size < watchedMax ? await fingerprintOf(uri) : undefined;
        if (fingerprint === undefined || fingerprint === goneFingerprint) return false;
        uris.set(uri, fingerprint);
        start();
        return true;
      },
      unwatchResource: (uri) => void uris.delete(uri),
      async watchTask(taskId) {
        const view = tasks.size < watchedMax ? await taskOf(taskId, call).catch(() => undefined) : undefined;
        if (view === undefined) return undefined;
        // An empty state differs from every other, so a finished task is reported immediately.
        tasks.set(taskId, hasEnded(view) ? '' : stateOf(view));
        start();
        if (hasEnded(view)) wake();
        return view;
      },
      close() {
        controller.abort();
        checks.delete(check);
        uris.clear();
        tasks.clear();
      },
    };
  };

  return {
    open,
    wake,
    close() {
      checks.clear();
      clearTimeout(timer);
    },
  };
}

const goneFingerprint = '(gone)';

function stateOf({ status, lastUpdatedAt, statusMessage, inputRequests = {} }: TaskView): string {
  return JSON.stringify([status, lastUpdatedAt, statusMessage, Object.keys(inputRequests)]);
}

function hasEnded({ status }: TaskView): boolean {
  return status !== 'working' && status !== 'input_required';
}
