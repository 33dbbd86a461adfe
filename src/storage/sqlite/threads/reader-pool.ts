import { CarrelError } from '../../../base/errors.ts';
import { createPool } from '../../../base/workers/pool.ts';
import { withTimeout } from '../../../base/workers/with-timeout.ts';
import { cancelledRead, type ReadOptions, storageClosed } from '../../transactions.ts';
import type { OperationCall, SqliteThread } from './sqlite-thread.ts';

export interface ReaderPoolConfig {
  readonly threadsMax: number;
  /** Timeout of a read, from when a thread starts it. The thread of a slower read is abandoned. */
  readonly timeoutMs: number;
}

export interface ReaderPool {
  call(call: OperationCall, options?: ReadOptions): Promise<unknown>;
  close(): Promise<void>;
}

const startTimeoutMs = 60_000;

/** Max calls waiting for a thread. More would be answered too late to be useful. */
const waitingMax = 1000;

/**
 * An abandoned thread continues until SQLite's current step ends, because nothing can interrupt that. With this many, reads are
 * refused until one has ended.
 */
const lingeringMax = 8;

/** Most programs never need a second thread, which takes about 100 ms of CPU time and 15 MB. */
const patienceMs = 500;

/** Reader threads, started on demand. Each runs one call at a time, so that abandoning one fails no other call. */
export function createReaderPool({ threadsMax, timeoutMs }: ReaderPoolConfig, start: () => SqliteThread): ReaderPool {
  const pool = createPool(
    { workersMax: threadsMax, waitingMax, lingeringMax, patienceMs, refused: overloaded, closed: storageClosed },
    start,
  );
  const overdue = () =>
    new CarrelError('query_timeout', 'The search took too long and was stopped. Search for fewer or rarer words.', {
      data: { timeoutMs },
    });
  return {
    call: (call, { signal } = {}) =>
      pool.use(async (thread) => {
        const bounds = { timeoutMs, signal, overdue, abandoned: cancelledRead };
        // On a busy machine, starting a thread may take longer than a search may.
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
