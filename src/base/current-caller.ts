import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string>();

/** Runs work on behalf of a caller. Queues are fair by caller; see fair-queue.ts. */
export function asCaller<Result>(id: string, work: () => Result): Result {
  return callers.run(id, work);
}

/** The caller of the current work; empty for the server itself and for callers not known yet. */
export function currentCaller(): string {
  return callers.getStore() ?? '';
}
