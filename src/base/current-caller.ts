import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string>();

/** Does the work for a caller. Whatever it waits for, its turn comes by caller (fair-queue.ts). */
export function asCaller<Result>(id: string, work: () => Result): Result {
  return callers.run(id, work);
}

/** Whom the current work is for; empty for the server itself and for callers not known yet. */
export function currentCaller(): string {
  return callers.getStore() ?? '';
}
