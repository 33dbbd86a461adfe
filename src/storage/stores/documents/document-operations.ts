import type { OperationRunner } from '../../operations.ts';
import { createDocumentChanges, type DocumentChanges } from './document-changes.ts';
import { createDocumentReads, type DocumentReads } from './document-reads.ts';
import type { DocumentDialect } from './document-work.ts';
import { createIngestWork, type IngestWork } from './ingest-work.ts';
import { createQueueReads, type QueueReads } from './queue-reads.ts';
import { createQueueWork, type QueueWork } from './queue-work.ts';

/** Everything that can be asked of documents and their jobs, for one of the databases. Writes are given the time. */
export type DocumentOperations = QueueWork & QueueReads & IngestWork & DocumentReads & DocumentChanges;

export const writeOperations = [
  ...['accept', 'claim', 'renew', 'fail', 'postpone', 'giveBack', 'cancel', 'forget'],
  ...['finish', 'editNote', 'remove', 'changeTags', 'changeMany', 'releaseOriginals'],
] as const satisfies readonly (keyof DocumentOperations)[];

export type DocumentRunner = OperationRunner<DocumentOperations, (typeof writeOperations)[number]>;

export function createDocumentOperations(dialect: DocumentDialect): DocumentOperations {
  return {
    ...createQueueWork(dialect),
    ...createQueueReads(dialect),
    ...createIngestWork(dialect),
    ...createDocumentReads(dialect),
    ...createDocumentChanges(dialect),
  };
}
