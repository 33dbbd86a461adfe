import { CarrelError } from '../../base/errors.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { DatabaseConfig } from './database.ts';
import type { SqliteStores } from './stores.ts';

/** A connection on a thread of its own, seen from the thread that serves. Calls are performed in the order they came. */
export interface SqliteThread {
  /** False once it has failed or ended; it then answers nothing any more. */
  readonly alive: boolean;
  /** Resolves when it takes up calls; they need not wait for that. */
  ready(): Promise<void>;
  /** Rejects when the database cannot be opened or brought to our schema. */
  call<S extends StoreName, M extends MethodName<S>>(
    store: S,
    method: M,
    args: MethodArgs<S, M>,
  ): Promise<MethodResult<S, M>>;
  /** Performs what was asked before, then closes the connection. */
  close(): Promise<void>;
  /** Drops what was asked. Resolves when the thread has ended, which it does only between two steps of SQLite. */
  terminate(): Promise<void>;
}

export type StoreName = keyof SqliteStores;
export type MethodName<S extends StoreName> = keyof SqliteStores[S] & string;
type AnyMethod = (...args: never[]) => unknown;
export type MethodArgs<S extends StoreName, M extends MethodName<S>> = SqliteStores[S][M] extends AnyMethod
  ? Parameters<SqliteStores[S][M]>
  : never;
export type MethodResult<S extends StoreName, M extends MethodName<S>> = SqliteStores[S][M] extends AnyMethod
  ? ReturnType<SqliteStores[S][M]>
  : never;

export interface StoreCall {
  readonly store: StoreName;
  readonly method: string;
  readonly args: readonly unknown[];
}

export function createSqliteThread(config: DatabaseConfig): SqliteThread {
  const calls = createWorkerCalls<StoreCall, unknown>({
    from: import.meta.url,
    file: 'sqlite-worker',
    name: `carrel-sqlite-${config.role}`,
    workerData: config,
    lost: (cause) =>
      new CarrelError('unavailable', 'The connection to the database was lost during the call. Try again.', { cause }),
  });
  return {
    get alive() {
      return calls.alive;
    },
    ready: calls.ready,
    // The other side is typed by the same interface; a message cannot carry that proof.
    call: async (store, method, args) =>
      (await calls.call({ store, method, args })) as MethodResult<typeof store, typeof method>,
    close: calls.close,
    terminate: calls.terminate,
  };
}
