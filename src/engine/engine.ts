import type { DocumentSort } from '../storage/documents/read-documents.ts';
import type {
  BulkOutcome,
  EngineDocument,
  EngineDocumentWithChunks,
  EngineJob,
  EngineSearchAnswer,
  EngineStatus,
  JobId,
  Restoring,
  TagCount,
} from './contract/answers.ts';
import type { BulkSelection, BulkTagChange, EngineSearch, TagChange } from './contract/requests.ts';

export type * from './contract/answers.ts';
export type * from './contract/requests.ts';

/**
 * A kb engine, in this process or over HTTP, with the shapes of its HTTP API. Tags are plain here: that `collection:x` means a
 * collection is a convention of the tools.
 */
export interface Engine {
  status(options?: EngineCall): Promise<EngineStatus>;
  search(request: EngineSearch, options?: EngineCall): Promise<EngineSearchAnswer>;
  /** Resolves when the submission is on disk. It will then be ingested exactly once, even after a crash. */
  submit(submission: Submission, options?: EngineCall): Promise<SubmitOutcome>;
  jobs(request: JobsRequest, options?: EngineCall): Promise<{ jobs: EngineJob[]; total: number }>;
  job(id: JobId, options?: EngineCall): Promise<EngineJob>;
  /** A finished job does not change. */
  cancelJob(id: JobId, options?: EngineCall): Promise<EngineJob>;
  documents(request: DocumentsRequest, options?: EngineCall): Promise<{ documents: EngineDocument[]; total: number }>;
  /** Chunks from `first_chunk` on, as many as fit. `chunks_left` counts the rest. */
  document(id: number, options?: DocumentCall): Promise<EngineDocumentWithChunks>;
  documentAlone(id: number, options?: EngineCall): Promise<EngineDocument>;
  /** The original bytes. */
  file(id: number, options?: EngineCall): Promise<EngineFile>;
  deleteDocument(id: number, options?: EngineCall): Promise<{ status: 'deleted'; document_id: number; title: string }>;
  /** Starts a job that restores a deleted document under its id, while it is kept. */
  restoreDocument(id: number, options?: EngineCall): Promise<Restoring & { document_id: number }>;
  /** Removes, then adds, in one transaction. */
  changeTags(id: number, change: TagChange, options?: EngineCall): Promise<EngineDocument>;
  /** For a moved file: another source path, the same content. */
  moveDocument(id: number, sourcePath: string, options?: EngineCall): Promise<EngineDocument>;
  updateNote(id: number, text: string, options?: EngineCall): Promise<EngineDocument>;
  /** Sorted by tag; only those after `after`. */
  tags(options?: EngineCall & { after?: string | undefined; limit?: number | undefined }): Promise<TagCount[]>;
  bulkDelete(selection: BulkSelection, options?: EngineCall): Promise<BulkOutcome>;
  bulkTags(selection: BulkSelection, change: BulkTagChange, options?: EngineCall): Promise<BulkOutcome>;
  bulkSetTags(selection: BulkSelection, tags: readonly string[], options?: EngineCall): Promise<BulkOutcome>;
  /** Absent for a remote engine. */
  upkeep?: EngineUpkeep;
  /** The same engine restricted to these collections; must not be closed. Absent for a remote engine. */
  scopedTo?(collections: readonly string[]): Engine;
  close(): Promise<void>;
}

/** Maintenance operations for people, not for agents. */
export interface EngineUpkeep {
  /** Deleted documents that can still be restored. */
  deletedDocuments(
    request: PageRequest,
    options?: EngineCall,
  ): Promise<{ documents: DeletedDocument[]; total: number }>;
  /** Deletes deleted documents for good. Returns how many. */
  purgeDocuments(ids: readonly number[], options?: EngineCall): Promise<number>;
  /** Removes finished uploads from the list of jobs. Returns how many. */
  clearJobs(options?: EngineCall): Promise<number>;
  /** The types of all documents, the most common first. */
  documentTypes(options?: EngineCall): Promise<{ type: string; count: number }[]>;
}

export interface EngineCall {
  signal?: AbortSignal | undefined;
  /** Only documents with one of these tags exist for this call. Local engines only. */
  scopedTo?: readonly string[] | undefined;
  /** Keyword search only, without models. A remote engine ignores it. */
  isQuick?: boolean | undefined;
}

export interface DocumentCall extends EngineCall {
  first_chunk?: number | undefined;
  max_chunks?: number | undefined;
  /** Max bytes of the answer as JSON, 4 MiB by default. A remote engine has its own limit. */
  bytesMax?: number | undefined;
}

/** A file, read once and in order, or a note. */
export type Submission = (
  | { filename: string; content: AsyncIterable<Uint8Array>; size?: number | undefined }
  | { note: string }
) &
  SubmissionFields;

export interface SubmissionFields {
  title?: string | undefined;
  tags?: readonly string[] | undefined;
  doc_type?: string | undefined;
  source_path?: string | undefined;
  /** As the server sent it with the file. By default derived from the name. Local engines only. */
  content_type?: string | undefined;
  /** The document whose content this replaces; its id and tags stay. If it was deleted, a new one is created. */
  replaces?: number | undefined;
}

export type SubmitOutcome =
  | { accepted: true; job_id: JobId; status: string; filename: string }
  /** The same bytes are already a document or a waiting job. */
  | { accepted: false; document_id?: number; job_id?: JobId; title: string | null };

export const jobStatuses = ['queued', 'processing', 'done', 'failed', 'cancelled'] as const;

export interface PageRequest {
  limit?: number | undefined;
  offset?: number | undefined;
}

export interface JobsRequest extends PageRequest {
  status?: string | undefined;
}

export interface DocumentsRequest extends PageRequest {
  type?: string | undefined;
  tags?: readonly string[] | undefined;
  source_path?: string | undefined;
  /** Each word must be in the title or source path, ignoring case. */
  query?: string | undefined;
  /** Last changed first by default. Remote engines ignore it. */
  sort?: DocumentSort | undefined;
}

export interface DeletedDocument {
  id: number;
  title: string;
  doc_type: string;
  source_path: string | null;
  bytes: number;
  tags: string[];
  created_at: string;
  deleted_at: string;
}

export interface EngineFile {
  filename: string;
  content_type: string;
  size: number;
  content: AsyncIterable<Uint8Array>;
}
