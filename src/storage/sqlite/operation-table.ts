import type { OperationTable } from '../operations.ts';
import { runNow, type Work } from '../stores/entries/work.ts';
import type { Database } from './database.ts';

/** Performs operations on the thread that has the connection; each write is a transaction. */
export function createOperationTable<Operations extends object, Engine>(
  operations: Operations,
  writeNames: readonly (keyof Operations)[],
  engine: Engine,
  database: Database,
): OperationTable<Operations> {
  const writes = new Set<unknown>(writeNames);
  const table = Object.entries(operations).map(([name, operation]) => [
    name,
    (request: unknown, now: string) => {
      const run = () => runNow<unknown, Engine>(operation(request, now) as Work<unknown, Engine>, engine);
      return writes.has(name) ? database.transaction(run) : run();
    },
  ]);
  // Its methods are those of the operations, one for one.
  return Object.fromEntries(table) as OperationTable<Operations>;
}
