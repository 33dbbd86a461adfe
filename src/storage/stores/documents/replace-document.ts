import type { StoredDocument } from '../../contracts/documents.ts';
import type { FinishRequest, StoredJob } from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { storable } from '../../storable.ts';
import { documentsOf } from './document-rows.ts';
import { labelsOf } from './selection.ts';
import { writeChunks } from './write-chunks.ts';

/** The document that a job replaces, if it is still there. */
export async function replacedBy(on: Statements, { details }: StoredJob): Promise<StoredDocument | undefined> {
  const { replaces } = details;
  if (typeof replaces !== 'number') return undefined;
  const rows = await on.query(`SELECT * FROM ${on.dialect.schema}kb_documents WHERE key = ? ${on.dialect.forUpdate}`, [
    replaces,
  ]);
  const [document] = await documentsOf(on, rows);
  return document;
}

interface Replacement extends FinishRequest {
  readonly job: StoredJob;
  readonly hash: string;
  /** As stored: the hash, or what stands for it and then the hash. */
  readonly identity: string;
  readonly bytesHash: string | null;
  readonly bytes: number;
  readonly note: string | undefined;
}

/** Everything but its id, tags and date, in one step: a search finds the old text or the new one. */
export async function replaceDocument(
  on: Statements,
  before: StoredDocument,
  { job, hash, identity, bytesHash, bytes, note, ...request }: Replacement,
): Promise<void> {
  const { id } = before;
  const title = storable(titleAfter(before, job, request, hash));
  await on.query(
    `UPDATE ${on.dialect.schema}kb_documents SET title = ?, doc_type = ?, filename = ?, source_path = ?, content_hash = ?,
      bytes_hash = ?, content_type = ?, bytes = ?, language = ?, details = ?, chunk_count = ?, updated_at = ? WHERE key = ?`,
    [
      title,
      storable(request.docType),
      job.filename ?? before.filename,
      job.sourcePath ?? before.sourcePath ?? null,
      identity,
      bytesHash,
      storable(request.contentType),
      bytes,
      request.language ?? null,
      // Jobs may end in another order than they were submitted in; an older one must not overwrite a newer one's text.
      JSON.stringify({ ...request.details, writtenBy: job.id }),
      request.chunks.length,
      on.now,
      id,
    ],
  );
  await on.query(`DELETE FROM ${on.dialect.schema}kb_notes WHERE document = ?`, [id]);
  if (note !== undefined)
    await on.query(`INSERT INTO ${on.dialect.schema}kb_notes (document, text) VALUES (?, ?)`, [id, note]);
  await on.query(`DELETE FROM ${on.dialect.schema}kb_chunks WHERE document = ?`, [id]);
  await writeChunks(on, id, title, labelsOf(storable(request.docType), before.tags), request.chunks);
}

/** A title that somebody gave stays. Earlier versions did not record whether one was given. */
function titleAfter(before: StoredDocument, job: StoredJob, request: FinishRequest, hash: string): string {
  if (job.title !== undefined) return job.title;
  const { derivedTitle = before.contentHash !== hash } = before.details;
  return derivedTitle === true ? request.title : before.title;
}
