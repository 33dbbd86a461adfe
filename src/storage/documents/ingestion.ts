/** The original bytes, by content hash, each content once. */
export interface OriginalStore {
  /** Writes the bytes to disk under a temporary name, for `accept` to adopt. Throws `too_large` over the limit. */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes originals that neither a document nor a waiting job refers to. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes leftovers of interrupted processes. */
  sweep(): Promise<number>;
}

export interface StageOptions {
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StagedOriginal {
  readonly id: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly bytes: number;
}

export interface OpenedOriginal {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export type JobStatus = 'queued' | 'processing' | 'done' | 'failed' | 'cancelled';
export type JobKind =
  | 'ingest'
  | 'crawl'
  | 'delete'
  | 'tags'
  | 'note'
  | 'move'
  | 'bulk_delete'
  | 'bulk_tags'
  | 'bulk_set_tags';
export type JobPhase = 'received' | 'crawling' | 'extracting' | 'chunking' | 'embedding' | 'indexing';

export interface PhaseProgress {
  readonly phase: JobPhase;
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

/** How much of one file is read. A truncated document stores the limits that applied in its details. */
export interface ReadingBounds {
  readonly characters: number;
  /** In milliseconds. */
  readonly cpu_time: number;
}

/** For callers who may only see documents with at least one of these tags. */
export interface Scope {
  readonly anyTags?: readonly string[] | undefined;
}

/** A chunk to write. Title and tags are its document's. */
export interface NewChunk {
  readonly text: string;
  /** Outermost first. */
  readonly headings: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface AcceptRequest extends Scope {
  readonly filename: string;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly sourcePath: string | undefined;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** The document whose text, hash and path this replaces. Its id and tags stay. If it was deleted, a new one is created. */
  readonly replaces?: number | undefined;
  /** Identifies the caller, for fair queueing. */
  readonly submitter?: string | undefined;
  /** The current read limits: bytes that were truncated by a lower limit are read again. */
  readonly bounds?: ReadingBounds | undefined;
  readonly content:
    | { readonly staged: StagedOriginal }
    | { readonly note: string; readonly hash: string; readonly bytes: number };
}

export type AcceptOutcome =
  | { readonly outcome: 'accepted'; readonly job: StoredJob }
  | { readonly outcome: 'known_document'; readonly id: number; readonly title: string }
  | { readonly outcome: 'known_job'; readonly id: number; readonly title: string | undefined };

export interface ClaimRequest {
  readonly owner: string;
  readonly leaseMs: number;
  /** Only a job without attempts, of at most this many bytes; notes and plain text first. */
  readonly quickBytesMax?: number | undefined;
  /** Submitter of the last claimed job: the next submitter by name is served, round-robin. */
  readonly afterSubmitter?: string | undefined;
}

export interface ClaimedJob {
  readonly id: number;
  readonly filename: string;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly sourcePath: string | undefined;
  readonly contentType: string;
  readonly contentHash: string;
  readonly note: string | undefined;
  /** Attempts that ended because their process died or its lease expired. */
  readonly crashes: number;
  /** Attempts that were postponed. */
  readonly retries: number;
  readonly submitter: string;
}

interface OwnJob {
  readonly id: number;
  readonly owner: string;
}

export interface RenewRequest extends OwnJob {
  readonly leaseMs: number;
  readonly progress: PhaseProgress | undefined;
}

export interface FinishRequest extends OwnJob {
  readonly title: string;
  readonly docType: string;
  readonly contentType: string;
  readonly language: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly chunks: readonly NewChunk[];
}

export type FinishOutcome =
  /** `freed`: the content of a replaced document. */
  | { readonly outcome: 'done'; readonly documentId: number; readonly freed?: string }
  /** The job was cancelled, or belongs to another process. */
  | { readonly outcome: 'lost' }
  /** Another document got these bytes meanwhile; the job has failed. */
  | { readonly outcome: 'duplicate'; readonly documentId: number }
  /** A newer job already replaced the document; the job has failed. */
  | { readonly outcome: 'superseded'; readonly documentId: number };

export interface FailRequest extends OwnJob {
  /** Progress so far; absent if nothing was started. */
  readonly progress?: PhaseProgress | undefined;
  readonly code: string;
  readonly message: string;
}

export interface PostponeRequest extends OwnJob {
  readonly delayMs: number;
  /** Why the job is delayed, for people looking at it. */
  readonly message: string;
}

export interface ForgetRequest {
  /** Forgets jobs that ended before this time: ISO 8601. */
  readonly before: string;
  readonly keptMax: number;
  /** Max jobs per call, because other writes wait meanwhile. */
  readonly limit: number;
}

export interface StoredJob {
  readonly id: number;
  readonly kind: JobKind;
  readonly filename: string | undefined;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly sourcePath: string | undefined;
  readonly tags: readonly string[];
  readonly status: JobStatus;
  readonly progress: PhaseProgress;
  readonly error: string | undefined;
  readonly errorCode: string | undefined;
  readonly documentId: number | undefined;
  readonly chunkCount: number | undefined;
  readonly contentHash: string | undefined;
  readonly attempts: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** With `anyTags`, only jobs with one of them. */
export interface JobListRequest extends Scope {
  readonly status?: JobStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface StoredJobPage {
  readonly jobs: readonly StoredJob[];
  readonly total: number;
}

export interface JobCounts {
  readonly queued: number;
  readonly processing: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
}
