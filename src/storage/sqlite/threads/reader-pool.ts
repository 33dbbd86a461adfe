import { CarrelError } from '../../../base/errors.ts';
import { createPool } from '../../../base/workers/pool.ts';
import { withTimeout } from '../../../base/workers/with-timeout.ts';
import { cancelledRead, type ReadOptions, storageClosed } from '../../transactions.ts';
import type { OperationCall, SqliteThread } from './sqlite-thread.ts';

export interface ReaderPoolConfig {
  readonly threadsMax: number;
  /** Timeout of a read, from its start on a thread. A thread whose read takes longer is abandoned. */
  readonly timeoutMs: number;
}

export interface ReaderPool {
  call(call: OperationCall, options?: ReadOptions): Promise<unknown>;
  close(): Promise<void>;
}

const startTimeoutMs = 60_000;

/** Max calls that wait for a thread. Any more would be answered too late to be useful. */
const waitingMax = 1000;

/**
 * Max abandoned threads that are still running. With more, reads are rejected until one ends. An abandoned thread runs until
 * SQLite's current step ends, which cannot be interrupted.
 */
const lingeringMax = 8;

/**
 * How long a call waits before a second thread is started. Most processes never need one, and it takes 100 ms of CPU time and
 * 15 MB.
 */
const patienceMs = 500;

/**
 * Creates a pool of reader threads, which start on demand. Each runs one call at a time, so abandoning a thread fails only that
 * call.
 */
export function createReaderPool({ threadsMax, timeoutMs }: ReaderPoolConfig, start: () => SqliteThread): ReaderPool {
  const pool = createPool(
    { workersMax: threadsMax, waitingMax, lingeringMax, patienceMs, refusal: overloaded, closedError: storageClosed },
    start,
  );
  const timeoutError = () =>
    new CarrelError('query_timeout', 'The search took too long and was stopped. Search for fewer or rarer words.', {
      data: { timeoutMs },
    });
  return {
    call: (call, { signal } = {}) =>
      pool.use(async (thread) => {
        const bounds = { timeoutMs, signal, timeoutError, abortError: cancelledRead };
        // On a busy machine, starting a thread may take longer than the timeout of a search.
        await withTimeout(thread, thread.ready(), { ...bounds, timeoutMs: startTimeoutMs });
        return withTimeout(thread, thread.call(call), bounds);
      }, signal),
    close: pool.close,
  };
}

function overloaded(): CarrelError {
  return new CarrelError('storage_busy', 'Too many searches are waiting. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
}
