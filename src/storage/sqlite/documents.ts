import {
  type AnswerOf,
  createDocumentOperations,
  type DocumentOperations,
  type OperationName,
  type RequestOf,
  writeOperations,
} from '../documents/document-operations.ts';
import type { DocumentDialect, DocumentEngine, DocumentWork } from '../documents/document-work.ts';
import { runNow } from '../entries/work.ts';
import type { Database } from './database.ts';
import { bound, sqliteDialect } from './entries.ts';
import { adoptFile, removeFile } from './original-files.ts';
import type { PassageTables } from './passages.ts';

/** Documents and their jobs in SQLite, on the thread that has the connection. */
export type DocumentTable = {
  [Name in OperationName]: (request: RequestOf<Name>, now: string) => AnswerOf<Name>;
};

const documentDialect: DocumentDialect = {
  ...sqliteDialect,
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // There is one writer at a time.
  skipLocked: '',
};

export function createDocumentTable(database: Database, passages: PassageTables, folder: string): DocumentTable {
  const engine: DocumentEngine = {
    query: (sql, values) => database.all(sql, ...values.map(bound)),
    writePassages: (document) => passages.replace('kb', [document]),
    removePassages: (parents) => passages.remove('kb', parents),
    labelPassages: (parents, labels) => passages.relabel('kb', parents, labels),
    adoptOriginal: (staged) => adoptFile(folder, staged),
    removeOriginal: (hash) => removeFile(folder, hash),
  };
  const table = Object.entries(createDocumentOperations(documentDialect)).map(([name, operation]) => [
    name,
    (request: never, now: string) => {
      const run = () => runNow<unknown, DocumentEngine>(perform(operation, request, now), engine);
      return isWrite(name) ? database.transaction(run) : run();
    },
  ]);
  // Its methods are those of the operations, one for one.
  return Object.fromEntries(table) as DocumentTable;
}

function perform(operation: DocumentOperations[OperationName], request: never, now: string): DocumentWork<unknown> {
  return operation(request, now);
}

function isWrite(name: string): boolean {
  return writeOperations.some((write) => write === name);
}
