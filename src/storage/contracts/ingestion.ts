import type { NewChunk } from './new-chunk.ts';
import type { ReadOptions } from './read-options.ts';
import type { Within } from './within.ts';

/**
 * The queue of files and notes that wait to become documents, and the record of what was done to documents. Several
 * processes may work on one queue: a job belongs to the one that holds its lease, and writes of any other for it
 * are refused.
 */
export interface IngestionStore {
  /** The bytes and the job are on disk when it resolves. Known bytes make no second job. */
  accept(request: AcceptRequest): Promise<AcceptOutcome>;
  /** The next job that is due, or one whose holder has let its lease run out. Those tried least often come first. */
  claim(request: ClaimRequest): Promise<ClaimedJob | undefined>;
  /** False: the job no longer belongs to the caller, which must stop. */
  renew(request: RenewRequest): Promise<boolean>;
  /** Document, chunks and the end of the job, in one transaction. */
  finish(request: FinishRequest): Promise<FinishOutcome>;
  fail(request: FailRequest): Promise<boolean>;
  /** Back into the queue, not to be claimed before the delay is over. */
  postpone(request: PostponeRequest): Promise<boolean>;
  /** Requeues everything that these holders have, as if it had not been started. Returns the number of jobs. */
  giveBack(request: { readonly owners: readonly string[]; readonly crashed: boolean }): Promise<number>;
  /** Whoever holds a lease. */
  owners(request: Record<never, never>): Promise<string[]>;
  /** Takes effect at once, also on a running job. A finished job stays as it is. */
  cancel(request: { readonly id: number }): Promise<StoredJob | undefined>;
  /** Removes finished jobs from the list: those older than `before`, and of the rest all but the newest `keptMax`. */
  forget(request: ForgetRequest): Promise<number>;
  get(request: { readonly id: number }, options?: ReadOptions): Promise<StoredJob | undefined>;
  /** Newest first. */
  list(request: JobListRequest, options?: ReadOptions): Promise<StoredJobPage>;
  /** Of files and notes that were given; the record of changes is not counted. */
  counts(request: Within, options?: ReadOptions): Promise<JobCounts>;
}

/** The original bytes, by the hash of their content, each content once. */
export interface OriginalStore {
  /** Writes them to disk under a name of their own, to be adopted by `accept`. Throws `too_large` past the bound. */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes those that neither a document nor a waiting job refers to. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes whatever an interrupted process has left behind. */
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
export type JobKind = 'ingest' | 'delete' | 'tags' | 'note' | 'move' | 'bulk_delete' | 'bulk_tags' | 'bulk_set_tags';
export type JobPhase = 'received' | 'extracting' | 'chunking' | 'embedding' | 'indexing';

export interface PhaseProgress {
  readonly phase: JobPhase;
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

/** How much of one file is read. A document of which something was left out has those that applied in its details. */
export interface ReadingBounds {
  readonly characters: number;
  /** In milliseconds. */
  readonly cpu_time: number;
}

export interface AcceptRequest extends Within {
  readonly filename: string;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly sourcePath: string | undefined;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** The document whose text, hash and path this becomes. Its id and tags stay. If it is gone, a new one is made. */
  readonly replaces?: number | undefined;
  /** How far files are read now: bytes of which a lower bound has left something out are read again. */
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
  /** Only a job that nobody has tried yet, of at most so many bytes; notes and plain text first. */
  readonly quickBytesMax?: number | undefined;
}

export interface ClaimedJob {
  readonly id: number;
  readonly filename: string;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly contentType: string;
  readonly contentHash: string;
  readonly note: string | undefined;
  /** Attempts that ended with the death of their process, or with its lease. */
  readonly crashes: number;
  /** Attempts that were postponed. */
  readonly retries: number;
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
  /** `freed`: the content that a replaced document had. */
  | { readonly outcome: 'done'; readonly documentId: number; readonly freed?: string }
  /** The job was cancelled, or belongs to another process. */
  | { readonly outcome: 'lost' }
  /** Another document has got these bytes meanwhile; the job is failed. */
  | { readonly outcome: 'duplicate'; readonly documentId: number }
  /** A newer job has replaced the document that this one was to replace; the job is failed. */
  | { readonly outcome: 'superseded'; readonly documentId: number };

export interface FailRequest extends OwnJob {
  /** How far it came; without it, nothing was begun. */
  readonly progress?: PhaseProgress | undefined;
  readonly code: string;
  readonly message: string;
}

export interface PostponeRequest extends OwnJob {
  readonly delayMs: number;
  /** What held it up, for whoever looks at the job. */
  readonly message: string;
}

export interface ForgetRequest {
  /** ISO 8601, compared with when they ended. */
  readonly before: string;
  readonly keptMax: number;
  /** At most this many at once, because others wait meanwhile. */
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

/** With `anyTags`, only jobs that have one of them. */
export interface JobListRequest extends Within {
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
