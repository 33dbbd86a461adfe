import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { Operation } from './dialect.ts';

/** Runs operations on SQLite or PostgreSQL. */
export interface Transactions {
  /** Runs a write in one transaction. It is on disk when the promise resolves. */
  write<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Promise<Answer>;
  /** Runs a read whose statements all see the same snapshot. */
  read<Request, Answer>(
    operation: Operation<Request, Answer>,
    request: Request,
    options?: ReadOptions,
  ): Promise<Answer>;
  /** Runs an operation without a timeout, on a connection that may write. On SQLite, it runs outside a transaction. */
  withoutTimeout<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Promise<Answer>;
}

export interface ReadOptions {
  /** Cancels the call, and ends the thread or connection that runs it. */
  readonly signal?: AbortSignal | undefined;
}

/** Creates the error for a cancelled read. The signal's own reason is not a CarrelError, so it would be logged as a bug. */
export function cancelledRead(signal: AbortSignal): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause: signal.reason });
}

export function storageClosed(): CarrelError {
  return new CarrelError('unavailable', 'The storage is closed.');
}

export interface CallMetrics {
  readonly calls: number;
  /** Calls still running. */
  readonly running: number;
  readonly writing: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  /** Carrel's error code, and the time of the failure: ISO 8601, UTC. The log has the database's own message. */
  readonly lastFailure: { readonly code: string; readonly time: string } | undefined;
}

/** Wraps transactions to count the calls. Errors of the caller and cancellations do not count as failures. */
export function meterTransactions({ write, read, withoutTimeout }: Transactions): {
  transactions: Transactions;
  metrics: CallMetrics;
} {
  const metrics = {
    calls: 0,
    running: 0,
    writing: 0,
    failures: 0,
    consecutiveFailures: 0,
    lastFailure: undefined as CallMetrics['lastFailure'],
  };
  async function count<Answer>(answer: Promise<Answer>, writes = 0): Promise<Answer> {
    metrics.calls += 1;
    metrics.running += 1;
    metrics.writing += writes;
    try {
      const result = await answer;
      metrics.consecutiveFailures = 0;
      return result;
    } catch (error) {
      countFailure(error);
      throw error;
    } finally {
      metrics.running -= 1;
      metrics.writing -= writes;
    }
  }
  function countFailure(error: unknown): void {
    if (isCarrelError(error) && ['input', 'not_found', 'cancelled'].includes(error.kind)) return;
    metrics.failures += 1;
    metrics.consecutiveFailures += 1;
    metrics.lastFailure = { code: isCarrelError(error) ? error.code : 'internal', time: new Date().toISOString() };
  }
  return {
    metrics,
    transactions: {
      write: (operation, request) => count(write(operation, request), 1),
      read: (operation, request, options) => count(read(operation, request, options)),
      withoutTimeout: (operation, request) => count(withoutTimeout(operation, request)),
    },
  };
}
