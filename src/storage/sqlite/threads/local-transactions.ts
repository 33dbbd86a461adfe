import type { SQLInputValue } from 'node:sqlite';
import type { Dialect, Operation, Statements } from '../../dialect.ts';
import type { BoundValue } from '../../rows.ts';
import type { Database } from '../database.ts';

type Perform = <Request, Answer>(
  operation: Operation<Request, Answer>,
  request: Request,
  now: string,
) => Promise<Answer>;

/**
 * Transactions on the connection's own thread. The caller must await each call before the next, as answer-calls.ts does.
 * Otherwise the second call would run inside the transaction of the first.
 */
export interface LocalTransactions {
  readonly write: Perform;
  readonly read: Perform;
  readonly alone: Perform;
}

export function createLocalTransactions(database: Database, dialect: Dialect): LocalTransactions {
  const statements = (now: string): Statements => ({
    dialect,
    now,
    query: async (sql, values = []) => database.all(sql, ...values.map(bound)),
  });
  return {
    write: (operation, request, now) => database.transaction(() => operation(statements(now), request)),
    read: (operation, request, now) => database.readOnce(() => operation(statements(now), request)),
    alone: (operation, request, now) => operation(statements(now), request),
  };
}

export function bound(value: BoundValue): SQLInputValue {
  return typeof value === 'object' && value !== null && 'list' in value ? JSON.stringify(value.list) : value;
}
