/**
 * A kb engine, whether it runs in this process or behind HTTP. The shapes are those of its HTTP API, name for name, so that
 * nothing is converted twice. Tags are plain here: that `collection:x` means a collection is a convention of the tools.
 */
export interface Engine {
  status(options?: EngineCall): Promise<EngineStatus>;
  search(request: EngineSearch, options?: EngineCall): Promise<EngineSearchAnswer>;
  /** Resolves when the submission is on disk. From then on it will be ingested, once, whatever happens to the process. */
  submit(submission: Submission, options?: EngineCall): Promise<SubmitOutcome>;
  jobs(request: JobsRequest, options?: EngineCall): Promise<JobPage>;
  job(id: JobId, options?: EngineCall): Promise<EngineJob>;
  /** A job that has ended stays as it is. */
  cancelJob(id: JobId, options?: EngineCall): Promise<EngineJob>;
  documents(request: DocumentsRequest, options?: EngineCall): Promise<DocumentPage>;
  /** With its first chunks, or those from another one on: all that fit. `chunks_left` says how many are behind them. */
  document(id: number, options?: DocumentCall): Promise<EngineDocumentWithChunks>;
  /** Without its chunks. */
  documentAlone(id: number, options?: EngineCall): Promise<EngineDocument>;
  /** The bytes as they were given. */
  file(id: number, options?: EngineCall): Promise<EngineFile>;
  deleteDocument(id: number, options?: EngineCall): Promise<DeletedDocument>;
  /** A job that brings a deleted document back under its id, within the time that it is kept. */
  restoreDocument(id: number, options?: EngineCall): Promise<RestoringDocument>;
  /** Removes, then adds, in one transaction. */
  changeTags(id: number, change: TagChange, options?: EngineCall): Promise<EngineDocument>;
  /** A file that was moved: another source path, the same content. */
  moveDocument(id: number, sourcePath: string, options?: EngineCall): Promise<EngineDocument>;
  updateNote(id: number, text: string, options?: EngineCall): Promise<EngineDocument>;
  /** By tag. */
  tags(options?: TagsCall): Promise<TagCount[]>;
  /** Collections and other tags apart, those with the most documents first: no more of each than these. */
  tagOverview(most: TagOverviewSizes, options?: EngineCall): Promise<TagOverview>;
  bulkDelete(selection: BulkSelection, options?: EngineCall): Promise<BulkOutcome>;
  bulkTags(selection: BulkSelection, change: BulkTagChange, options?: EngineCall): Promise<BulkOutcome>;
  bulkSetTags(selection: BulkSelection, tags: readonly string[], options?: EngineCall): Promise<BulkOutcome>;
  /** The same for callers who may use only these collections; it is not closed. Absent where it cannot be had. */
  within?(collections: readonly string[]): Engine;
  close(): Promise<void>;
}

export interface EngineCall {
  signal?: AbortSignal | undefined;
  /** Tags: whatever has none of them does not exist for this call. Only an engine in this process knows it. */
  within?: readonly string[] | undefined;
}

export interface DocumentCall extends EngineCall {
  first_chunk?: number | undefined;
  max_chunks?: number | undefined;
  /** Of the answer as JSON, by default 4 MiB. An engine behind HTTP has a bound of its own. */
  bytesMax?: number | undefined;
}

export interface TagsCall extends EngineCall {
  /** Only tags behind this one. */
  after?: string | undefined;
  limit?: number | undefined;
}

/** Our engine uses numbers, others strings. */
export type JobId = number | string;

export interface EngineStatus {
  version: string;
  /** Null if nothing is embedded. */
  model: { name: string; dimensions: number | null } | null;
  device: string;
  /** What it does, where that is not everything. */
  roles?: readonly string[];
  documents: number;
  chunks: number;
  /** Chunks that can only be found by words, because they are not embedded yet. Not every engine reports it. */
  unembedded?: number;
  /** Why they stay so for now, in our words: what makes vectors does not answer. */
  degraded?: string;
  collections: number;
  queue: { queued: number; processing: number; done: number; failed: number };
  /** `keeps_deleted`: whether what is deleted can be restored. Not every engine reports it. */
  storage: { backend: string; bytes: number; keeps_deleted?: boolean };
  [more: string]: unknown;
}

export interface EngineSearch {
  query: string;
  top?: number | undefined;
  /** The document must have all of them. */
  tags?: readonly string[] | undefined;
  doc_type?: string | undefined;
  fts_only?: boolean | undefined;
  vec_only?: boolean | undefined;
  /** Hits with a lower relevance are left out, instead of those that hardly fit. */
  threshold?: number | undefined;
  /** Also hits that hardly fit. */
  include_weak?: boolean | undefined;
  /** How many chunks before and after each hit to include. */
  neighbours?: number | undefined;
  /** Hits that are left out from the beginning, of those that `top` counts. */
  offset?: number | undefined;
}

export interface EngineSearchAnswer {
  query: string;
  results: EngineHit[];
  total_matches: number;
  returned: number;
  /** Hits that were left out because they hardly fit; absent if there are none. */
  weak_omitted?: number;
  /** Whether a model has ordered the hits. Not every engine reports it. */
  reranking?: { readonly state: 'applied' | 'off' | 'failed'; readonly reason?: string };
  /** Why the answer is not as good as it could be, in our words. */
  degraded?: string;
}

export interface EngineHit {
  /** Null if the engine does not report it. */
  document_id: number | null;
  chunk_id: number | string;
  score: number;
  /** The chance that it answers the query, 0 to 1. Not every engine reports it. */
  relevance?: number;
  text: string;
  chunk_index: number;
  chunk_metadata: ChunkMetadata;
  title: string;
  doc_type: string;
  source_path: string | null;
  /** Not every engine reports it. */
  content_hash?: string | null;
  created_at: string;
  tags: string[];
  truncated?: Truncation;
  /** Which leg found it, at which rank, by which terms. */
  why?: Record<string, unknown>;
  neighbours?: { chunk_index: number; text: string }[];
}

/** The location of a chunk in the original. Lines and pages count from 1. */
export interface ChunkMetadata {
  page?: number;
  /** From the outermost heading to the nearest, joined with " > ". */
  section_header?: string;
  line_start?: number;
  line_end?: number;
  [more: string]: unknown;
}

export type Submission = (FileSubmission | NoteSubmission) & {
  title?: string | undefined;
  tags?: readonly string[] | undefined;
  doc_type?: string | undefined;
  source_path?: string | undefined;
  /** A document whose content this becomes; its id and tags stay. If it is gone by then, a new one is made. */
  replaces?: number | undefined;
};

export interface FileSubmission {
  filename: string;
  /** Read once, in order. */
  content: AsyncIterable<Uint8Array>;
  /** If it is known in advance. */
  size?: number | undefined;
}

export interface NoteSubmission {
  note: string;
}

export type SubmitOutcome =
  | { accepted: true; job_id: JobId; status: string; filename: string }
  /** The same bytes already are a document or a waiting job. */
  | { accepted: false; document_id?: number; job_id?: JobId; title: string | null };

export const jobStatuses = ['queued', 'processing', 'done', 'failed', 'cancelled'] as const;

export interface EngineJob {
  id: JobId;
  /** `ingest`, or the kind of change that it records; absent if the engine keeps no record. */
  kind?: string;
  filename: string | null;
  status: string;
  progress: JobProgress | null;
  /** The reason and what to do, in our words. */
  error: string | null;
  document_id: number | null;
  chunk_count: number | null;
  truncated?: Truncation;
  /** Chunks that are found by their words only, until their vectors are made. Left out when there are none. */
  pending?: number;
  created_at: string;
  updated_at: string | null;
  [more: string]: unknown;
}

/** What was left out of the text of a file, and why. */
export interface Truncation {
  reason: string;
  read: number;
  /** Null where it is not known. */
  of: number | null;
  unit?: string;
}

export interface JobProgress {
  phase: string;
  done?: number;
  total?: number;
}

export interface JobsRequest {
  status?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

export interface JobPage {
  jobs: EngineJob[];
  total: number;
}

export interface DocumentsRequest {
  type?: string | undefined;
  /** The document must have all of them. */
  tags?: readonly string[] | undefined;
  source_path?: string | undefined;
  /** Each of its words is in the title or the source path, in any case. */
  query?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

export interface DocumentPage {
  documents: EngineDocument[];
  total: number;
}

export interface EngineDocument {
  id: number;
  title: string;
  doc_type: string;
  tags: string[];
  source_path: string | null;
  content_hash: string | null;
  language: string | null;
  chunk_count: number | null;
  has_file: boolean | null;
  truncated?: Truncation;
  /** See `EngineJob`. */
  pending?: number;
  created_at: string;
  /** Null until the first change. */
  updated_at: string | null;
  [more: string]: unknown;
}

export interface EngineDocumentWithChunks extends EngineDocument {
  chunks: EngineChunk[];
  /** Behind these; absent if there are none. */
  chunks_left?: number;
}

export interface EngineChunk {
  id: number | string;
  chunk_index: number;
  text: string;
  chunk_metadata: ChunkMetadata;
}

export interface EngineFile {
  filename: string;
  content_type: string;
  size: number;
  content: AsyncIterable<Uint8Array>;
}

export interface DeletedDocument {
  status: 'deleted';
  document_id: number;
  title: string;
}

export interface RestoringDocument {
  status: string;
  document_id: number;
  title: string;
  job_id: JobId;
}

export interface TagChange {
  add?: readonly string[] | undefined;
  remove?: readonly string[] | undefined;
}

export interface BulkTagChange extends TagChange {
  /** All tags of this kind are removed, too, except for those that are added. */
  replaces?: 'collections' | 'others' | undefined;
}

export interface TagCount {
  tag: string;
  count: number;
}

export interface TagOverviewSizes {
  collections: number;
  others: number;
}

export interface TagOverview {
  collections: UsedTags;
  others: UsedTags;
}

export interface UsedTags {
  tags: readonly TagCount[];
  /** How many there are, unless none were asked for. */
  total: number;
}

/** All given conditions must hold; an empty selection is refused. */
export interface BulkSelection {
  document_ids?: readonly number[] | undefined;
  tags?: readonly string[] | undefined;
  doc_type?: string | undefined;
  from_id?: number | undefined;
  to_id?: number | undefined;
  /** Proceed even if more than the safety percentage of all documents would change. */
  force?: boolean | undefined;
}

export interface BulkOutcome {
  matched: number;
  total: number;
  changed: number;
  /** The job that records the change. */
  job_id: JobId;
}
