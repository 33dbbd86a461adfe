import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string>();

/** Runs work on behalf of a caller. Queues are fair by caller; see fair-queue.ts. */
export function asCaller<Result>(id: string, work: () => Result): Result {
  return callers.run(id, work);
}

/** Returns the caller that the current work is for. Empty for the server's own work, or if the caller is not identified yet. */
export function currentCaller(): string {
  return callers.getStore() ?? '';
}
