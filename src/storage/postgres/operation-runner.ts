import type { AnswerOf, OperationRunner, RequestOf } from '../operations.ts';
import { runInTurn, type Work } from '../stores/entries/work.ts';
import type { Connections, Statements } from './connections.ts';

/** Performs operations on a connection of its own each, step by step. */
export function createOperationRunner<Operations extends object, WriteName extends keyof Operations, Engine>(
  operations: Operations,
  engineOn: (statements: Statements) => Engine,
  connections: Connections,
  now: () => Date,
): OperationRunner<Operations, WriteName> {
  const perform = <Name extends keyof Operations>(
    name: Name,
    request: RequestOf<Operations[Name]>,
    time: string,
    statements: Statements,
  ) => {
    const operation = operations[name] as (request: unknown, now: string) => unknown;
    // The name has chosen the operation, and with it the types of request and answer.
    const work = operation(request, time) as Work<AnswerOf<Operations[Name]>, Engine>;
    return runInTurn(work, engineOn(statements));
  };
  return {
    write(name, request) {
      const time = now().toISOString();
      return connections.write((statements) => perform(name, request, time, statements));
    },
    read: (name, request, options) => connections.read((statements) => perform(name, request, '', statements), options),
  };
}
