import { createDocumentChanges, type DocumentChanges } from './document-changes.ts';
import { createDocumentReads, type DocumentReads } from './document-reads.ts';
import type { DocumentDialect, DocumentWork } from './document-work.ts';
import { createIngestWork, type IngestWork } from './ingest-work.ts';
import { createQueueReads, type QueueReads } from './queue-reads.ts';
import { createQueueWork, type QueueWork } from './queue-work.ts';

/** Everything that can be asked of documents and their jobs, for one of the databases. Writes are given the time. */
export type DocumentOperations = QueueWork & QueueReads & IngestWork & DocumentReads & DocumentChanges;

export type OperationName = keyof DocumentOperations;

export const writeOperations = [
  ...['accept', 'claim', 'renew', 'fail', 'postpone', 'giveBack', 'cancel', 'forget'],
  ...['finish', 'editNote', 'remove', 'changeTags', 'changeMany', 'releaseOriginals'],
] as const satisfies readonly OperationName[];
export type WriteOperation = (typeof writeOperations)[number];
export type ReadOperation = Exclude<OperationName, WriteOperation>;

export type RequestOf<Name extends OperationName> =
  Parameters<DocumentOperations[Name]> extends [infer Request, ...unknown[]] ? Request : Record<never, never>;
export type AnswerOf<Name extends OperationName> =
  ReturnType<DocumentOperations[Name]> extends DocumentWork<infer Answer> ? Answer : never;

export function createDocumentOperations(dialect: DocumentDialect): DocumentOperations {
  return {
    ...createQueueWork(dialect),
    ...createQueueReads(dialect),
    ...createIngestWork(dialect),
    ...createDocumentReads(dialect),
    ...createDocumentChanges(dialect),
  };
}
