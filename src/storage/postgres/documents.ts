import {
  type AnswerOf,
  createDocumentOperations,
  type DocumentOperations,
  type OperationName,
  type RequestOf,
} from '../documents/document-operations.ts';
import type { DocumentRunner } from '../documents/document-stores-of.ts';
import type { DocumentDialect, DocumentEngine, DocumentWork } from '../documents/document-work.ts';
import { runInTurn } from '../entries/work.ts';
import type { Connections, Statements } from './connections.ts';
import { bound, numbered, postgresDialect } from './entries.ts';
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
  const perform = <Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    time: string,
    statements: Statements,
  ) => {
    const operation: DocumentOperations[OperationName] = operations[name];
    // The name has chosen the operation, and with it the types of request and answer.
    const work = operation(request as never, time) as DocumentWork<AnswerOf<Name>>;
    return runInTurn(work, createEngine(statements, passages));
  };
  return {
    write(name, request) {
      const time = now().toISOString();
      return connections.write((statements) => perform(name, request, time, statements));
    },
    read: (name, request, options) => connections.read((statements) => perform(name, request, '', statements), options),
  };
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
