import type { JobId, Truncation } from '../../engine/engine.ts';
import type { SkipCounts } from './find-files.ts';

/** An event of `carrel add`, printed as JSON with --json. Paths are absolute. */
export type AddEvent =
  | { event: 'found'; files: number; bytes: number; passed_over: SkipCounts }
  | { event: 'accepted'; path: string; job_id: JobId }
  | ({ event: 'added' } & Stored)
  /** If the engine can't replace a document in place, `former_id` is the old document's id. Else it equals `document_id`. */
  | ({ event: 'replaced'; former_id: number } & Stored)
  | { event: 'moved'; path: string; from: string; document_id: number }
  | { event: 'removed'; path: string; document_id: number }
  | { event: 'duplicate'; path: string; document_id?: number; job_id?: JobId; title: string | null }
  | { event: 'failed'; path: string; error: string }
  | { event: 'waiting'; reason: string }
  | { event: 'watching'; folders: string[] }
  /** Everything is up to date until the folder changes. */
  | { event: 'in_step'; files: number }
  /** All files are searchable by keyword; `pending` chunks still need vectors. */
  | { event: 'embedding'; pending: number }
  | ({ event: 'summary' } & Summary);

export interface Stored {
  path: string;
  document_id: number | null;
  chunks: number | null;
  truncated?: Truncation;
}

export interface Summary {
  added: number;
  duplicates: number;
  failed: number;
  seconds: number;
  /** Chunks that only keyword search finds, because they have no vectors yet. */
  pending: number;
}
