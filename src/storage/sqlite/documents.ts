import type { OperationTable } from '../operations.ts';
import {
  createDocumentOperations,
  type DocumentOperations,
  writeOperations,
} from '../stores/documents/document-operations.ts';
import type { DocumentDialect, DocumentEngine } from '../stores/documents/document-work.ts';
import type { Database } from './database.ts';
import { bound, sqliteDialect } from './entries.ts';
import { createOperationTable } from './operation-table.ts';
import { adoptFile, removeFile } from './original-files.ts';
import type { PassageTables } from './passages.ts';

/** Documents and their jobs in SQLite, on the thread that has the connection. */
export type DocumentTable = OperationTable<DocumentOperations>;

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
  return createOperationTable(createDocumentOperations(documentDialect), writeOperations, engine, database);
}
