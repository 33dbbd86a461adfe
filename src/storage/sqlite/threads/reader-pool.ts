import { CarrelError } from '../../../base/errors.ts';
import { createPool } from '../../../base/workers/pool.ts';
import { withinTime } from '../../../base/workers/within-time.ts';
import { givenUp, type ReadOptions } from '../../read-options.ts';
import type { OperationCall, SqliteThread } from './sqlite-thread.ts';

export interface ReaderPoolConfig {
  readonly threadsMax: number;
  /** A read that takes longer loses its thread. Counted from when a thread takes it up. */
  readonly timeoutMs: number;
}

export interface ReaderPool {
  call(call: OperationCall, options?: ReadOptions): Promise<unknown>;
  close(): Promise<void>;
}

const startTimeoutMs = 60_000;

/** Calls that may wait for a thread. Beyond that, answers would come too late to be of use. */
const waitingMax = 1000;

/**
 * A thread that was given up goes on until SQLite's current step ends, because nothing can interrupt that. So many may do
 * so at once; then reads are refused until one has ended.
 */
const lingeringMax = 8;

/** Threads that read, started as they are needed. One call at a time each, so that giving one up fails no other call. */
export function createReaderPool({ threadsMax, timeoutMs }: ReaderPoolConfig, start: () => SqliteThread): ReaderPool {
  const pool = createPool(
    { workersMax: threadsMax, waitingMax, lingeringMax, refused: overloaded, closed: storageClosed },
    start,
  );
  const overdue = () =>
    new CarrelError('query_timeout', 'The search took too long and was stopped. Ask for fewer or rarer words.', {
      data: { timeoutMs },
    });
  return {
    call: (call, { signal } = {}) =>
      pool.use(async (thread) => {
        const bounds = { timeoutMs, signal, overdue, abandoned: givenUp };
        // A busy machine may take longer to start a thread than a search may take.
        await withinTime(thread, thread.ready(), { ...bounds, timeoutMs: startTimeoutMs });
        return withinTime(thread, thread.call(call), bounds);
      }, signal),
    close: pool.close,
  };
}

export function storageClosed(): CarrelError {
  return new CarrelError('unavailable', 'The storage is closed.');
}

function overloaded(): CarrelError {
  return new CarrelError('storage_busy', 'Too many searches are waiting. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
}
