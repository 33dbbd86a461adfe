import type { ReadOptions } from './contracts/read-options.ts';

/*
 * Operations on a database: functions by their names, each of which is given a request and, where it writes, the time, and
 * makes the work that is to be done. They are written once, and each database performs them in its own way.
 */

export type RequestOf<Operation> = Operation extends (request: infer Request, now: string) => unknown
  ? unknown extends Request
    ? Record<never, never>
    : Request
  : never;

/** Whatever engine the work is done with. */
export type AnswerOf<Operation> = Operation extends (...given: never[]) => Generator<unknown, infer Answer>
  ? Answer
  : never;

/** How a database performs operations: a write in a transaction, a read on one state of the data. */
export interface OperationRunner<Operations, WriteName extends keyof Operations> {
  write<Name extends WriteName>(name: Name, request: RequestOf<Operations[Name]>): Promise<AnswerOf<Operations[Name]>>;
  read<Name extends Exclude<keyof Operations, WriteName>>(
    name: Name,
    request: RequestOf<Operations[Name]>,
    options: ReadOptions | undefined,
  ): Promise<AnswerOf<Operations[Name]>>;
}

/** The operations as functions that have ended when they return, for a database that performs them at once. */
export type OperationTable<Operations> = {
  [Name in keyof Operations]: (request: RequestOf<Operations[Name]>, now: string) => AnswerOf<Operations[Name]>;
};
