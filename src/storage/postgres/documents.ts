import { createDocumentOperations, type DocumentRunner } from '../stores/documents/document-operations.ts';
import type { DocumentDialect, DocumentEngine } from '../stores/documents/document-work.ts';
import type { Connections, Statements } from './connections.ts';
import { bound, numbered, postgresDialect } from './entries.ts';
import { createOperationRunner } from './operation-runner.ts';
import { adoptOriginal, removeOriginal } from './originals.ts';
import type { PassageWriter } from './passages.ts';

const documentDialect: DocumentDialect = {
  ...postgresDialect,
  nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
};

export function createDocumentRunner(
  connections: Connections,
  passages: PassageWriter,
  now: () => Date,
): DocumentRunner {
  const operations = createDocumentOperations(documentDialect);
  return createOperationRunner(operations, (statements) => createEngine(statements, passages), connections, now);
}

function createEngine(statements: Statements, passages: PassageWriter): DocumentEngine {
  return {
    query: (sql, values) => statements.query(numbered(sql), values.map(bound)),
    writePassages: (document) => passages.replace(statements, [document]),
    removePassages: (parents) => passages.remove(statements, parents),
    labelPassages: (parents, labels) => passages.relabel(statements, parents, labels),
    adoptOriginal: (staged) => adoptOriginal(statements, staged),
    removeOriginal: (hash) => removeOriginal(statements, hash),
  };
}
