import type { Dialect } from '../dialect.ts';
import type { BoundValue, Operation, Statements } from '../statements.ts';
import type { Transactions } from '../transactions.ts';
import type { Connection, Connections } from './connections.ts';

/** Performs operations on a connection of its own each. */
export function createPostgresTransactions(connections: Connections, dialect: Dialect, now: () => Date): Transactions {
  const performed =
    <Request, Answer>(operation: Operation<Request, Answer>, request: Request, time = now().toISOString()) =>
    (connection: Connection) =>
      operation(statementsOn(connection, dialect, time), request);
  return {
    write: (operation, request) => connections.write(performed(operation, request)),
    read: (operation, request, options) => connections.read(performed(operation, request), options),
    alone: (operation, request) => connections.alone(performed(operation, request)),
  };
}

function statementsOn(connection: Connection, dialect: Dialect, now: string): Statements {
  return {
    dialect,
    now,
    query: (sql, values = []) => connection.query(numbered(sql), values.map(bound)),
  };
}

/** Our statements hold no question mark besides those for values. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

function bound(value: BoundValue): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // A view of bytes would be sent as a list of numbers.
  return 'list' in value ? value.list : Buffer.from(value);
}
