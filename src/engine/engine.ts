import type { DocumentSort } from '../storage/documents/document.ts';
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
  TagOverview,
} from './contract/answers.ts';
import type { BulkSelection, BulkTagChange, EngineSearch, TagChange } from './contract/requests.ts';

export type * from './contract/answers.ts';
export type * from './contract/requests.ts';

/**
 * A kb engine, in this process or behind HTTP, with the shapes of its HTTP API.
 * Tags are plain here: that `collection:x` means a collection is a convention of the tools.
 */
export interface Engine {
  status(options?: EngineCall): Promise<EngineStatus>;
  search(request: EngineSearch, options?: EngineCall): Promise<EngineSearchAnswer>;
  /** Resolves when the submission is on disk. From then on it will be ingested, once, whatever happens to the process. */
  submit(submission: Submission, options?: EngineCall): Promise<SubmitOutcome>;
  jobs(request: JobsRequest, options?: EngineCall): Promise<{ jobs: EngineJob[]; total: number }>;
  job(id: JobId, options?: EngineCall): Promise<EngineJob>;
  /** A job that has ended stays as it is. */
  cancelJob(id: JobId, options?: EngineCall): Promise<EngineJob>;
  documents(request: DocumentsRequest, options?: EngineCall): Promise<{ documents: EngineDocument[]; total: number }>;
  /** With its first chunks, or those from another one on: all that fit. `chunks_left` says how many are behind them. */
  document(id: number, options?: DocumentCall): Promise<EngineDocumentWithChunks>;
  documentAlone(id: number, options?: EngineCall): Promise<EngineDocument>;
  /** The bytes as they were given. */
  file(id: number, options?: EngineCall): Promise<EngineFile>;
  deleteDocument(id: number, options?: EngineCall): Promise<{ status: 'deleted'; document_id: number; title: string }>;
  /** A job that brings a deleted document back under its id, within the time that it is kept. */
  restoreDocument(id: number, options?: EngineCall): Promise<Restoring & { document_id: number }>;
  /** Removes, then adds, in one transaction. */
  changeTags(id: number, change: TagChange, options?: EngineCall): Promise<EngineDocument>;
  /** A file that was moved: another source path, the same content. */
  moveDocument(id: number, sourcePath: string, options?: EngineCall): Promise<EngineDocument>;
  updateNote(id: number, text: string, options?: EngineCall): Promise<EngineDocument>;
  /** Sorted by tag; only those behind `after`. */
  tags(options?: EngineCall & { after?: string | undefined; limit?: number | undefined }): Promise<TagCount[]>;
  /** Collections and other tags apart, those with the most documents first: no more of each than these. */
  tagOverview(most: TagOverviewSizes, options?: EngineCall): Promise<TagOverview>;
  bulkDelete(selection: BulkSelection, options?: EngineCall): Promise<BulkOutcome>;
  bulkTags(selection: BulkSelection, change: BulkTagChange, options?: EngineCall): Promise<BulkOutcome>;
  bulkSetTags(selection: BulkSelection, tags: readonly string[], options?: EngineCall): Promise<BulkOutcome>;
  /** Absent in an engine elsewhere. */
  upkeep?: EngineUpkeep;
  /** The same for callers who may use only these collections; it is not closed. Absent where it cannot be had. */
  within?(collections: readonly string[]): Engine;
  close(): Promise<void>;
}

/** For people who tidy up. */
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
  /** Tags: whatever has none of them does not exist for this call. Only an engine in this process knows it. */
  within?: readonly string[] | undefined;
}

export interface DocumentCall extends EngineCall {
  first_chunk?: number | undefined;
  max_chunks?: number | undefined;
  /** Max bytes of the answer as JSON, 4 MiB by default. An engine behind HTTP has a limit of its own. */
  bytesMax?: number | undefined;
}

/** A file, whose content is read once and in order, or a note. */
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
  /** As a server sent it with the file. By default it follows from the name. Only an engine in this process takes it. */
  content_type?: string | undefined;
  /** A document whose content this becomes; its id and tags stay. If it is gone by then, a new one is made. */
  replaces?: number | undefined;
}

export type SubmitOutcome =
  | { accepted: true; job_id: JobId; status: string; filename: string }
  /** The same bytes already are a document or a waiting job. */
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
  /** Each of its words is in the title or the source path, in any case. */
  query?: string | undefined;
  /** Last changed first by default. An engine elsewhere ignores it. */
  sort?: DocumentSort | undefined;
}

/** In the trash. */
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

export interface TagOverviewSizes {
  collections: number;
  others: number;
}
