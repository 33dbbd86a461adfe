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
 * A kb engine, in this process or over HTTP. Requests and answers have the shapes of the HTTP API. The engine treats all tags
 * alike: only the tools interpret `collection:x` as a collection.
 */
export interface Engine {
  status(options?: EngineCall): Promise<EngineStatus>;
  search(request: EngineSearch, options?: EngineCall): Promise<EngineSearchAnswer>;
  /** Resolves when the submission is stored. It will then be ingested exactly once, even after a crash. */
  submit(submission: Submission, options?: EngineCall): Promise<SubmitOutcome>;
  jobs(request: JobsRequest, options?: EngineCall): Promise<{ jobs: EngineJob[]; total: number }>;
  job(id: JobId, options?: EngineCall): Promise<EngineJob>;
  /** Cancels a job. Has no effect on a finished job. */
  cancelJob(id: JobId, options?: EngineCall): Promise<EngineJob>;
  documents(request: DocumentsRequest, options?: EngineCall): Promise<{ documents: EngineDocument[]; total: number }>;
  /** Returns a document with as many chunks as fit, from `first_chunk` on. `chunks_left` counts the remaining ones. */
  document(id: number, options?: DocumentCall): Promise<EngineDocumentWithChunks>;
  documentWithoutChunks(id: number, options?: EngineCall): Promise<EngineDocument>;
  /** Returns the original file. */
  file(id: number, options?: EngineCall): Promise<EngineFile>;
  deleteDocument(id: number, options?: EngineCall): Promise<{ status: 'deleted'; document_id: number; title: string }>;
  /** Starts a job that restores a deleted document under its id, if it is still stored. */
  restoreDocument(id: number, options?: EngineCall): Promise<Restoring & { document_id: number }>;
  /** Removes tags, then adds tags, in one transaction. */
  changeTags(id: number, change: TagChange, options?: EngineCall): Promise<EngineDocument>;
  /** Changes the source path of a document whose file was moved or renamed. */
  moveDocument(id: number, sourcePath: string, options?: EngineCall): Promise<EngineDocument>;
  updateNote(id: number, text: string, options?: EngineCall): Promise<EngineDocument>;
  /** Lists tags in order, starting after the tag `after`. */
  tags(options?: EngineCall & { after?: string | undefined; limit?: number | undefined }): Promise<TagCount[]>;
  bulkDelete(selection: BulkSelection, options?: EngineCall): Promise<BulkOutcome>;
  bulkTags(selection: BulkSelection, change: BulkTagChange, options?: EngineCall): Promise<BulkOutcome>;
  bulkSetTags(selection: BulkSelection, tags: readonly string[], options?: EngineCall): Promise<BulkOutcome>;
  /** Absent for a remote engine. */
  maintenance?: EngineMaintenance;
  /** Returns this engine, restricted to these collections. Its `close` does nothing. Absent for a remote engine. */
  scopedTo?(collections: readonly string[]): Engine;
  close(): Promise<void>;
}

/** Maintenance operations for people, not for agents. */
export interface EngineMaintenance {
  /** Lists deleted documents that can still be restored. */
  deletedDocuments(
    request: PageRequest,
    options?: EngineCall,
  ): Promise<{ documents: DeletedDocument[]; total: number }>;
  /** Permanently removes deleted documents. Returns how many. */
  purgeDocuments(ids: readonly number[], options?: EngineCall): Promise<number>;
  /** Removes finished uploads from the list of jobs. Returns how many. */
  clearJobs(options?: EngineCall): Promise<number>;
  /** Returns the types of all documents, the most common first. */
  documentTypes(options?: EngineCall): Promise<{ type: string; count: number }[]>;
}

export interface EngineCall {
  signal?: AbortSignal | undefined;
  /** Hides documents that have none of these tags. Local engines only. */
  scopedTo?: readonly string[] | undefined;
  /** Keyword search only, without models. A remote engine ignores it. */
  wordsOnly?: boolean | undefined;
}

export interface DocumentCall extends EngineCall {
  first_chunk?: number | undefined;
  max_chunks?: number | undefined;
  /** Max bytes of the answer as JSON, 4 MiB by default. A remote engine has its own limit. */
  bytesMax?: number | undefined;
}

/** A file or a note. The file's content is read once. */
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
  /** The file's content type, as a web server sent it. By default derived from the file name. Local engines only. */
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
  /** Sort order; by default, the last changed document comes first. Remote engines ignore it. */
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
