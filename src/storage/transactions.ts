import type { ReadOptions } from './contracts/read-options.ts';
import type { Operation } from './statements.ts';

/** Runs operations on a database. Where they run and how they get there is up to the database. */
export interface Transactions {
  /** All of it or nothing; on disk when it resolves. */
  write<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Promise<Answer>;
  /** All statements see the same state. */
  read<Request, Answer>(
    operation: Operation<Request, Answer>,
    request: Request,
    options?: ReadOptions,
  ): Promise<Answer>;
  /** On a connection that may write, outside a transaction, and for as long as it takes. */
  alone<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Promise<Answer>;
}
