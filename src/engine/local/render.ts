import type { DeletedDocument as StoredDeleted } from '../../storage/documents/deleted-documents.ts';
import type { StoredDocument } from '../../storage/documents/document.ts';
import type { PhaseProgress, StoredJob } from '../../storage/documents/jobs.ts';
import type { LocatedChunk, StoredChunk } from '../../storage/documents/read-documents.ts';
import type { DeletedDocument, EngineChunk, EngineDocument, EngineJob, JobProgress, Truncation } from '../engine.ts';
import { type EngineRole, engineRoles } from '../engine-slice.ts';

/** Converts stored data to the shapes of the API. */

/** Converts a document. `pending`: its number of chunks without vectors. */
export function renderDocument(document: StoredDocument, pending = 0): EngineDocument {
  return {
    id: document.id,
    title: document.title,
    doc_type: document.docType,
    tags: [...document.tags],
    source_path: document.sourcePath ?? null,
    content_hash: document.contentHash,
    language: document.language ?? null,
    chunk_count: document.chunkCount,
    has_file: true,
    created_at: document.createdAt,
    updated_at: document.updatedAt ?? null,
    filename: document.filename,
    content_type: document.contentType,
    size: document.bytes,
    ...truncatedOf(document.details),
    ...(pending > 0 ? { pending } : {}),
    metadata: publicDetails(document.details),
  };
}

export function renderDeleted({ id, title, docType, sourcePath, bytes, ...rest }: StoredDeleted): DeletedDocument {
  return {
    id,
    title,
    doc_type: docType,
    source_path: sourcePath ?? null,
    bytes,
    tags: [...rest.tags],
    created_at: rest.createdAt,
    deleted_at: rest.deletedAt,
  };
}

/** Returns the engine's roles, or nothing if it has all. */
export function renderRoles(roles: readonly EngineRole[]): { roles?: readonly EngineRole[] } {
  return roles.length === engineRoles.length ? {} : { roles };
}

export function renderChunk({ key, position, text, metadata }: StoredChunk): EngineChunk {
  return { id: key, chunk_index: position, text, chunk_metadata: metadata };
}

export function renderNeighbours(chunk: LocatedChunk): { chunk_index: number; text: string }[] {
  return chunk.neighbours.map(({ position, text }) => ({ chunk_index: position, text }));
}

export function renderJob(job: StoredJob, live: PhaseProgress | undefined, pending = 0): EngineJob {
  return {
    id: job.id,
    kind: job.kind,
    filename: job.filename ?? null,
    title: job.title ?? null,
    status: job.status,
    progress: progressOf(job, live),
    error: job.error ?? null,
    error_code: job.errorCode ?? null,
    document_id: job.documentId ?? null,
    chunk_count: job.chunkCount ?? null,
    ...truncatedOf(job.details),
    ...(pending > 0 ? { pending } : {}),
    doc_type: job.docType ?? null,
    tags: [...job.tags],
    source_path: job.sourcePath ?? null,
    content_hash: job.contentHash ?? null,
    attempts: job.attempts,
    details: job.details,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
  };
}

function progressOf(job: StoredJob, live: PhaseProgress | undefined): JobProgress | null {
  if (job.kind !== 'ingest' && job.kind !== 'crawl') return null;
  const { phase, done, total } = job.status === 'processing' ? (live ?? job.progress) : job.progress;
  return { phase, ...(done === undefined ? {} : { done }), ...(total === undefined ? {} : { total }) };
}

/** Returns how much of the text was read, if not all. */
export function truncatedOf({ truncated }: StoredDocument['details']): { truncated?: Truncation } {
  // ingest.ts wrote it in this shape.
  return truncated === undefined ? {} : { truncated: truncated as Truncation };
}

/** Removes internal details. */
function publicDetails({
  derivedTitle: _,
  bounds: __,
  writtenBy: ___,
  ...details
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return details;
}
