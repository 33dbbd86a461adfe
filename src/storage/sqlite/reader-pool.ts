import { CarrelError } from '../../base/errors.ts';
import type { ReadOptions } from '../contracts/read-options.ts';
import { givenUp } from '../given-up.ts';
import type { MethodArgs, MethodName, MethodResult, SqliteThread, StoreName } from './sqlite-thread.ts';

export interface ReaderPoolConfig {
  readonly threadsMax: number;
  /** A read that takes longer loses its thread. Counted from when a thread takes it up. */
  readonly timeoutMs: number;
}

export interface ReaderPool {
  call<S extends StoreName, M extends MethodName<S>>(
    store: S,
    method: M,
    args: MethodArgs<S, M>,
    options?: ReadOptions,
  ): Promise<MethodResult<S, M>>;
  close(): Promise<void>;
}

/** Calls that may wait for a thread. Beyond that, answers would come too late to be of use. */
const queueMax = 1000;

/**
 * A thread that was given up goes on until SQLite's current step ends, because nothing can interrupt that. So many may do
 * so at once; then reads are refused until one has ended.
 */
const lingeringMax = 8;

/** Threads that read, started as they are needed. One call at a time each, so that giving one up fails no other call. */
export function createReaderPool(config: ReaderPoolConfig, startThread: () => SqliteThread): ReaderPool {
  const idle: SqliteThread[] = [];
  const queue: (() => void)[] = [];
  const threads = new Set<SqliteThread>();
  const lingering = new Set<SqliteThread>();
  let closed = false;

  return {
    async call(store, method, args, options = {}) {
      if (options.signal?.aborted) throw givenUp(options.signal);
      const thread = await take(options.signal);
      try {
        return await bounded(thread, thread.call(store, method, args), options.signal);
      } finally {
        if (!thread.alive) drop(thread);
        if (threads.has(thread)) idle.push(thread);
        queue.shift()?.();
      }
    },
    async close() {
      closed = true;
      await Promise.all([...threads, ...lingering].map((thread) => thread.terminate()));
    },
  };

  async function take(signal: AbortSignal | undefined): Promise<SqliteThread> {
    for (;;) {
      if (closed) throw new CarrelError('unavailable', 'The storage is closed.');
      const free = idle.pop();
      if (free !== undefined) return free;
      if (lingering.size >= lingeringMax || queue.length >= queueMax) throw overloaded();
      if (threads.size < config.threadsMax) {
        const thread = startThread();
        threads.add(thread);
        return thread;
      }
      await turn(signal);
    }
  }

  async function turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      const place = queue.indexOf(resolve);
      if (place !== -1) queue.splice(place, 1);
      if (signal) reject(givenUp(signal));
    };
    queue.push(resolve);
    signal?.addEventListener('abort', leave);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  async function bounded<T>(thread: SqliteThread, result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      drop(thread);
      reject(
        new CarrelError('query_timeout', 'The search took too long and was stopped. Ask for fewer or rarer words.', {
          data: { timeoutMs: config.timeoutMs },
        }),
      );
    }, config.timeoutMs);
    const abandon = (): void => {
      drop(thread);
      if (signal) reject(givenUp(signal));
    };
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    try {
      return await Promise.race([result, promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      // Whichever loses the race is nobody's business any more.
      result.catch(() => {});
      promise.catch(() => {});
    }
  }

  function drop(thread: SqliteThread): void {
    if (!threads.delete(thread)) return;
    lingering.add(thread);
    void thread.terminate().finally(() => {
      lingering.delete(thread);
    });
  }
}

function overloaded(): CarrelError {
  return new CarrelError('storage_busy', 'Too many searches are waiting. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
}
