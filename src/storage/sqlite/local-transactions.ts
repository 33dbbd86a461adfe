import type { SQLInputValue } from 'node:sqlite';
import type { Dialect } from '../dialect.ts';
import type { BoundValue, Operation, Statements } from '../statements.ts';
import type { Database } from './database.ts';

/**
 * Performs operations on the thread that has the connection, one after the other: while one of them awaits something, the
 * next would otherwise come into the midst of its transaction.
 */
export interface LocalTransactions {
  write<Request, Answer>(operation: Operation<Request, Answer>, request: Request, now: string): Promise<Answer>;
  read<Request, Answer>(operation: Operation<Request, Answer>, request: Request, now: string): Promise<Answer>;
  /** Other work that needs the connection to itself. */
  alone<T>(work: () => T | Promise<T>): Promise<T>;
}

export function createLocalTransactions(database: Database, dialect: Dialect): LocalTransactions {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => T | Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const statements = (now: string): Statements => ({
    dialect,
    now,
    query: async (sql, values = []) => database.all(sql, ...values.map(bound)),
  });
  return {
    alone,
    write: (operation, request, now) => alone(() => database.transact(() => operation(statements(now), request))),
    read: (operation, request, now) => alone(() => database.readOnce(() => operation(statements(now), request))),
  };
}

export function bound(value: BoundValue): SQLInputValue {
  return typeof value === 'object' && value !== null && 'list' in value ? JSON.stringify(value.list) : value;
}
