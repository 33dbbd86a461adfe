import type { Operation, Statements } from './dialect.ts';
import type { ReadOptions, Transactions } from './transactions.ts';

/** One operation of a store, and the kind of transaction that runs it. */
export interface StoreOperation<
  Run extends AnyOperation = AnyOperation,
  Kind extends keyof Transactions = keyof Transactions,
> {
  readonly run: Run;
  readonly kind: Kind;
  /** True if a read replica may answer. */
  readonly replica: boolean;
}

export type StoreOperations = Readonly<Record<string, StoreOperation>>;

type AnyOperation = Operation<never, unknown>;

type OperationTable = Readonly<Record<string, AnyOperation>>;

type Described<Table extends OperationTable, Kind extends keyof Transactions> = {
  readonly [Name in keyof Table]: StoreOperation<Table[Name], Kind>;
};

/**
 * Describes the reads of a store, by method name. With `replica`, a read replica may answer. Use it only for searches and the
 * texts of their hits: jobs, claims and tokens must always be read from the primary.
 */
export function reads<Table extends OperationTable>(
  table: Table,
  { replica = false }: { readonly replica?: boolean } = {},
): Described<Table, 'read'> {
  return describeOperations(table, 'read', replica);
}

export function writes<Table extends OperationTable>(table: Table): Described<Table, 'write'> {
  return describeOperations(table, 'write', false);
}

/** See `Transactions.withoutTimeout`. */
export function withoutTimeout<Table extends OperationTable>(table: Table): Described<Table, 'withoutTimeout'> {
  return describeOperations(table, 'withoutTimeout', false);
}

function describeOperations<Table extends OperationTable, Kind extends keyof Transactions>(
  table: Table,
  kind: Kind,
  replica: boolean,
): Described<Table, Kind> {
  const operations = Object.entries(table).map(([name, run]) => [name, { run, kind, replica }]);
  // The cast is safe: the keys are those of `table`.
  return Object.fromEntries(operations) as Described<Table, Kind>;
}

/** A store with these operations as its methods. The store adds the fields of `Bound` to each request. */
export type StoreOf<Operations, Bound = unknown> = {
  readonly [Name in keyof Operations]: Operations[Name] extends StoreOperation<infer Run, infer Kind>
    ? Method<Run, Kind, Bound>
    : never;
};

type Method<Run, Kind, Bound> = Run extends (db: Statements, request: infer Request) => Promise<infer Answer>
  ? (
      ...args: Kind extends 'read'
        ? [...RequestArgument<Unbound<Request, Bound>>, options?: ReadOptions]
        : RequestArgument<Unbound<Request, Bound>>
    ) => Promise<Answer>
  : never;

/** An operation without a request has an unknown request type. */
type RequestArgument<Request> = unknown extends Request ? [request?: undefined] : [request: Request];

type Unbound<Request, Bound> = unknown extends Bound
  ? Request
  : keyof Request extends keyof Bound
    ? unknown
    : Omit<Request, keyof Bound>;

/** Creates a store with one method per operation. `bound` is added to each request. */
export function createStore<Operations extends StoreOperations, Bound extends object = never>(
  transactions: Transactions,
  operations: Operations,
  bound?: Bound,
): StoreOf<Operations, [Bound] extends [never] ? unknown : Bound> {
  const methods = Object.entries(operations).map(([name, { run, kind }]) => [
    name,
    (request: object, options?: ReadOptions) => {
      const boundRequest = bound === undefined ? request : { ...bound, ...request };
      // The method's type ensures that the request has the operation's type.
      return transactions[kind](run, boundRequest as never, options);
    },
  ]);
  return Object.fromEntries(methods) as StoreOf<Operations, [Bound] extends [never] ? unknown : Bound>;
}
