import { CarrelError } from '../../../base/errors.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
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

/**
 * A connection on its own thread, as the serving thread sees it. Calls run one at a time, in order. They fail if the database
 * cannot be opened or migrated.
 */
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
