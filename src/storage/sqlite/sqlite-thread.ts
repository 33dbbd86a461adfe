import { Worker } from 'node:worker_threads';
import { CarrelError } from '../../base/errors.ts';
import type { DatabaseConfig } from './database.ts';
import type { SqliteStores } from './stores.ts';
import { fromWire, type WireError } from './wire-error.ts';

/** A connection on a thread of its own, seen from the thread that serves. Calls are performed in the order they came. */
export interface SqliteThread {
  /** Rejects when the database cannot be opened or brought to our schema. */
  readonly ready: Promise<void>;
  /** False once it has failed or ended; it then answers nothing any more. */
  readonly alive: boolean;
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
  readonly id: number;
  readonly store: StoreName;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createSqliteThread(config: DatabaseConfig): SqliteThread {
  // Flags of the process (--eval, --input-type) are not for its threads.
  const worker = new Worker(workerUrl, { workerData: config, name: `carrel-sqlite-${config.role}`, execArgv: [] });
  const waiting = new Map<number, Waiting>();
  const started = Promise.withResolvers<void>();
  // Whoever calls learns of it; a thread that nobody waits for may fail in silence.
  started.promise.catch(() => {});
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let lastId = 0;
  let alive = true;
  let closing = false;

  const settle = (message: ThreadMessage): void => {
    if (message.kind === 'ready') started.resolve();
    else if (message.kind === 'failed') {
      alive = false;
      started.reject(fromWire(message.error));
    } else {
      const call = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.kind === 'result') call?.resolve(message.value);
      else call?.reject(fromWire(message.error));
    }
    // A thread with nothing to do does not keep the process alive; one that is to end does, until it has.
    if (waiting.size === 0 && !closing) worker.unref();
  };
  const fail = (error: Error): void => {
    alive = false;
    started.reject(error);
    for (const call of waiting.values()) call.reject(error);
    waiting.clear();
  };
  worker.on('message', settle);
  worker.once('error', (cause) => fail(lost(cause)));
  worker.once('exit', () => fail(lost(undefined)));

  return {
    ready: started.promise,
    get alive() {
      return alive;
    },
    async call(store, method, args) {
      await started.promise;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      worker.ref();
      worker.postMessage({ id: lastId, store, method, args } satisfies StoreCall);
      // The other side is typed by the same interface; a message cannot carry that proof.
      return (await promise) as MethodResult<typeof store, typeof method>;
    },
    async close() {
      if (!alive) return;
      closing = true;
      worker.ref();
      worker.postMessage('close');
      await ended;
    },
    async terminate() {
      // Held, so that whoever waits for its end is still there when it comes.
      worker.ref();
      await worker.terminate();
    },
  };
}

// Bundled, all files lie in one folder.
const workerUrl = new URL(
  import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js',
  import.meta.url,
);

function lost(cause: Error | undefined): CarrelError {
  return new CarrelError('unavailable', 'The connection to the database was lost during the call. Try again.', {
    cause,
  });
}
