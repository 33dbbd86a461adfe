import assert from 'node:assert/strict';
import type { Operation, Statements } from './dialect.ts';
import { documentOperations, ingestionOperations } from './documents/document-stores.ts';
import { originalOperations } from './documents/originals.ts';
import { entryOperations } from './entries/entry-store.ts';
import { noteOperations } from './notes/notes.ts';
import { passageOperations } from './passages/passage-store.ts';
import { reads, type StoreOf, type StoreOperation, type StoreOperations, withoutTimeout } from './store-operations.ts';
import { tokenOperations } from './tokens/token.ts';
import { vectorOperations, vectorSteps } from './vectors/vector-store.ts';
import { webOperations } from './web/web-store.ts';
import { storedLanguage } from './words/word-analysis.ts';

/** The operations that are methods of `Storage` itself. */
export const maintenanceOperations = {
  ...reads({ describe: (db: Statements) => db.dialect.describe(db) }),
  ...withoutTimeout({ check: (db: Statements) => db.dialect.check(db) }),
};

/** Stores in which every method is one operation. The keys are their names in `Storage`. */
export const simpleStores = {
  entries: entryOperations,
  documents: documentOperations,
  ingestion: ingestionOperations,
  notes: noteOperations,
  passages: passageOperations,
  tokens: tokenOperations,
  web: webOperations,
};

/** A write is on disk when its promise resolves, and every later read, from any process, sees it. */
export type SimpleStores = { readonly [Name in keyof typeof simpleStores]: StoreOf<(typeof simpleStores)[Name]> };

const stores: Readonly<Record<string, StoreOperations>> = {
  ...simpleStores,
  originals: originalOperations,
  vectors: { ...vectorOperations, ...vectorSteps },
  maintenance: { ...maintenanceOperations, ...withoutTimeout({ language: storedLanguage }) },
};

/** Every operation, by a name such as `entries.list`. Messages to SQLite's threads contain these names, not functions. */
export const operations: ReadonlyMap<string, StoreOperation> = new Map(
  Object.entries(stores).flatMap(([store, table]) =>
    Object.entries(table).map(([method, operation]): [string, StoreOperation] => [`${store}.${method}`, operation]),
  ),
);

const names = new Map([...operations].map(([name, { run }]): [unknown, string] => [run, name]));

/** The operations that may run on a read replica. */
export const replicaReads: ReadonlySet<unknown> = new Set(
  [...operations.values()].flatMap(({ run, replica }) => (replica ? [run] : [])),
);

export function nameOf<Request, Answer>(operation: Operation<Request, Answer>): string {
  const name = names.get(operation);
  assert(name !== undefined, `${operation.name} is not in the table of operations`);
  return name;
}

/** Returns the operation of this name. The caller must pass it a request of the right type. */
export function operationOf(name: string): Operation<never, unknown> {
  const operation = operations.get(name);
  assert(operation !== undefined, `no operation has the name ${name}`);
  return operation.run;
}
