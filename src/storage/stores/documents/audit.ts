import type { StoredDocument } from '../../contracts/documents.ts';
import type { JobKind } from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf } from '../../rows.ts';

export interface AuditEntry {
  readonly kind: Exclude<JobKind, 'ingest'>;
  /** As it was before, where one document was changed. */
  readonly document?: StoredDocument;
  readonly tags?: readonly string[];
  readonly chunkCount?: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Leaves a job that is done: what was changed, in the transaction that changed it. The id of the job. */
export async function leaveRecord(
  on: Statements,
  { kind, document, tags = document?.tags ?? [], chunkCount, details }: AuditEntry,
): Promise<number> {
  const [row = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}kb_jobs (kind, filename, title, doc_type, source_path, content_hash, tags,
      status, phase, details, document_id, chunk_count, attempts, crashes, retries, run_after, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, 'done', 'indexing', ?, ?, ?, 0, 0, 0, 0, ?, ?) RETURNING key`,
    [
      ...[kind, document?.filename ?? null, document?.title ?? null, document?.docType ?? null],
      ...[document?.sourcePath ?? null, document?.contentHash ?? null, JSON.stringify(tags)],
      ...[JSON.stringify(details), document?.id ?? null, chunkCount ?? null, on.now, on.now],
    ],
  );
  return numberOf(row, 'key');
}
