import { nameOf } from '../operations.ts';
import type { Operation } from '../statements.ts';
import type { Transactions } from '../transactions.ts';
import type { ReaderPool } from './threads/reader-pool.ts';
import type { OperationCall, SqliteThread } from './threads/sqlite-thread.ts';

/** Has operations performed on the threads that have connections. They are named there, because functions cannot be sent. */
export function createSqliteTransactions(
  writer: Pick<SqliteThread, 'call'>,
  readers: Pick<ReaderPool, 'call'>,
  now: () => Date,
): Transactions {
  const callOf = <Request, Answer>(
    kind: OperationCall['kind'],
    operation: Operation<Request, Answer>,
    request: Request,
  ): OperationCall => ({ kind, operation: nameOf(operation), request, now: now().toISOString() });
  return {
    // What answers is the operation of this name; a message cannot carry the proof of it.
    write: async (operation, request) => (await writer.call(callOf('write', operation, request))) as never,
    read: async (operation, request, options) =>
      (await readers.call(callOf('read', operation, request), options)) as never,
    alone: async (operation, request) => (await writer.call(callOf('alone', operation, request))) as never,
  };
}
