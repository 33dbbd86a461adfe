import { CarrelError } from '../../../base/errors.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { createPool } from '../../../base/workers/pool.ts';
import { withTimeout } from '../../../base/workers/with-timeout.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import { cancelledRead, type ReadOptions, storageClosed } from '../../transactions.ts';
import type { DatabaseConfig } from '../database.ts';
import type { LocalTransactions } from '../dialect.ts';
import { isOutOfFiles, tooManyFiles } from '../storage-error.ts';

export interface OperationCall {
  readonly kind: keyof LocalTransactions;
  /** Name of the operation; see operations.ts. */
  readonly operation: string;
  readonly request: unknown;
  /** ISO 8601, UTC. */
  readonly now: string;
}

/** A connection on its own thread. Calls run one at a time. They fail if the database cannot be opened or migrated. */
export type SqliteThread = Calls<OperationCall, unknown>;

export function createSqliteThread(config: DatabaseConfig): SqliteThread {
  return createWorkerCalls({
    from: import.meta.url,
    file: 'sqlite-worker',
    name: `carrel-sqlite-${config.role}`,
    workerData: config,
    exitError: (cause) =>
      isOutOfFiles(cause)
        ? tooManyFiles(cause)
        : new CarrelError('unavailable', 'The connection to the database was lost during the call. Try again.', {
            cause,
          }),
  });
}

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

/** How long a call waits before a second thread is started, which takes 100 ms of CPU time and 15 MB. */
const patienceMs = 500;

/** Creates a pool of reader threads, which start on demand. Each runs one call at a time. */
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
        const limits = { timeoutMs, signal, timeoutError, abortError: cancelledRead };
        // On a busy machine, starting a thread may take longer than the timeout of a search.
        await withTimeout(thread, thread.ready(), { ...limits, timeoutMs: startTimeoutMs });
        return withTimeout(thread, thread.call(call), limits);
      }, signal),
    close: pool.close,
  };
}

function overloaded(): CarrelError {
  return new CarrelError('storage_busy', 'Too many searches are waiting. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
}
