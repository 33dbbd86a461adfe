import type { ReadOptions } from '../contracts/read-options.ts';
import { nameOf } from '../operations.ts';
import type { Operation } from '../statements.ts';
import type { Transactions } from '../transactions.ts';
import type { ReaderPool } from './reader-pool.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** Has operations performed on the threads that have connections. They are named there, because functions cannot be sent. */
export function createSqliteTransactions(
  write: SqliteThread['call'],
  readers: Pick<ReaderPool, 'call'>,
  now: () => Date,
): Transactions {
  return {
    async write<Request, Answer>(operation: Operation<Request, Answer>, request: Request) {
      const answer = await write('operations', 'write', [nameOf(operation), request, now().toISOString()]);
      // The operation of this name has made it; a message cannot carry that proof.
      return answer as Answer;
    },
    async read<Request, Answer>(operation: Operation<Request, Answer>, request: Request, options?: ReadOptions) {
      const answer = await readers.call(
        'operations',
        'read',
        [nameOf(operation), request, now().toISOString()],
        options,
      );
      return answer as Answer;
    },
  };
}
