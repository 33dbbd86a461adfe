import type { Statements } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import { assignmentOf, numberOf, optionalTextOf, textOf } from '../rows.ts';
import { insertRow } from '../statements.ts';
import { storable } from '../storable.ts';
import { contentHolders } from './accept-job.ts';
import { claimDeleted } from './deleted-documents.ts';
import { documentsById, insertTags, type StoredDocument } from './document.ts';
import { changeLeasedJob, endJobSql, type LeasedJob } from './job-queue.ts';
import { jobOf, recordChange, type StoredJob } from './jobs.ts';
import { documentNote } from './read-documents.ts';
import { isVisible, labelsOf, type Scope } from './selection.ts';
import { type NewChunk, writeChunks } from './write-chunks.ts';

export interface FinishRequest extends LeasedJob {
  readonly title: string;
  readonly docType: string;
  readonly contentType: string;
  readonly language: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly chunks: readonly NewChunk[];
}

type FinishOutcome =
  /** `freed` is the hash of the previous content, if the job replaced a document's content. */
  | { readonly outcome: 'done'; readonly documentId: number; readonly freed?: string }
  /** The job was cancelled or belongs to another process. */
  | { readonly outcome: 'lost' }
  /** The job failed: another document with these bytes was added meanwhile, or a newer job has already replaced the document. */
  | { readonly outcome: 'duplicate' | 'superseded'; readonly documentId: number };

/** Writes the document and its chunks and ends the job, in one transaction. */
export async function finishJob(db: Statements, request: FinishRequest): Promise<FinishOutcome> {
  const { forUpdate } = db.dialect;
  const [row] = await db.query(
    `SELECT * FROM kb_jobs WHERE key = ? AND status = 'processing' AND lease_owner = ? ${forUpdate}`,
    [request.id, request.owner],
  );
  if (row === undefined) return { outcome: 'lost' };
  const job = jobOf(row);
  const hash = textOf(row, 'content_hash');
  /** See `ContentHolder.isCopy`. */
  const isCopy = row['is_copy'] !== null;
  // Locks the document before its content, in the same order as `editNote`, to avoid deadlocks.
  const { replaces } = job.details;
  const [before] = typeof replaces === 'number' ? await documentsById(db, [replaces], forUpdate) : [];
  await lock(db, `kb content ${hash}`);
  const [duplicate] = await db.query(
    'SELECT key FROM kb_documents WHERE content_hash = ? AND is_copy IS NULL AND key <> ?',
    [hash, before?.id ?? 0],
  );
  if (duplicate !== undefined && !isCopy) {
    const documentId = numberOf(duplicate, 'key');
    const message = `Document ${documentId} has the same content. Nothing was added.`;
    return rejectResult(db, request, { message, outcome: 'duplicate', documentId });
  }
  // Jobs may end out of order. An older job must not overwrite the text of a newer one.
  if (before !== undefined && Number(before.details['writtenBy'] ?? 0) > job.id) {
    const message = `A newer version of document ${before.id} is already stored. Nothing was changed.`;
    return rejectResult(db, request, { message, outcome: 'superseded', documentId: before.id });
  }
  const note = optionalTextOf(row, 'note');
  // A file has no path if it was meant to replace a document that was deleted meanwhile. Its name then serves as the path.
  const defaultPath = before === undefined && note === undefined ? textOf(row, 'filename') : null;
  const document: DocumentRow = {
    title: storable(newTitle(before, job, request, hash)),
    doc_type: storable(request.docType),
    filename: textOf(row, 'filename'),
    source_path: job.sourcePath ?? before?.sourcePath ?? defaultPath,
    content_hash: hash,
    is_copy: isCopy ? 1 : null,
    content_type: storable(request.contentType),
    bytes: numberOf(row, 'bytes'),
    language: request.language ?? null,
    details: JSON.stringify(before === undefined ? request.details : { ...request.details, writtenBy: job.id }),
    chunk_count: request.chunks.length,
    note: note ?? null,
  };
  const id = before === undefined ? await insertDocument(db, document, job) : before.id;
  if (before !== undefined) await updateDocument(db, id, document);
  const labels = labelsOf(document.doc_type, before?.tags ?? job.tags);
  await writeChunks(db, { id, title: document.title, labels, chunks: request.chunks });
  await endJob(db, job, id, request);
  const isFreed = before !== undefined && before.contentHash !== hash;
  return { outcome: 'done', documentId: id, ...(isFreed ? { freed: before.contentHash } : {}) };
}

interface DocumentRow extends Readonly<Record<string, string | number | null>> {
  readonly title: string;
  readonly doc_type: string;
}

/** Returns the document's new title. A title that a person chose stays. */
function newTitle(before: StoredDocument | undefined, job: StoredJob, request: FinishRequest, hash: string): string {
  if (before === undefined) return request.title;
  if (job.title !== undefined) return job.title;
  const { derivedTitle = before.contentHash !== hash } = before.details;
  return derivedTitle === true ? request.title : before.title;
}

/** Inserts a document. A restored document gets its old id, if that is free, and its old creation date. */
async function insertDocument(db: Statements, document: DocumentRow, job: StoredJob): Promise<number> {
  const { id, createdAt = db.now } = await claimDeleted(db, job.details);
  const row = { ...document, created_at: createdAt };
  const inserted =
    id === undefined
      ? await insertRow(db, 'kb_documents', row, { returning: 'key' })
      : await insertRow(db, 'kb_documents', { key: id, ...row }, { returning: 'key', clause: db.dialect.keys.clause });
  const key = numberOf(inserted, 'key');
  await insertTags(db, key, job.tags);
  return key;
}

async function updateDocument(
  db: Statements,
  id: number,
  changed: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  const { sql, values } = assignmentOf({ ...changed, updated_at: db.now });
  await db.query(`UPDATE kb_documents SET ${sql} WHERE key = ?`, [...values, id]);
}

async function rejectResult(
  db: Statements,
  job: LeasedJob,
  { message, outcome, documentId }: { message: string; outcome: 'duplicate' | 'superseded'; documentId: number },
): Promise<FinishOutcome> {
  await changeLeasedJob(db, job, {
    sql: `status = 'failed', error = ?, error_code = ?, document_id = ?, updated_at = ?, ${endJobSql}`,
    values: [message, outcome, documentId, db.now],
  });
  return { outcome, documentId };
}

async function endJob(db: Statements, job: StoredJob, id: number, request: FinishRequest): Promise<void> {
  const { truncated } = request.details;
  const details = JSON.stringify({ ...job.details, ...(truncated === undefined ? {} : { truncated }) });
  await changeLeasedJob(db, request, {
    sql: `status = 'done', phase = 'indexing', phase_done = NULL, phase_total = NULL, error = NULL,
      document_id = ?, chunk_count = ?, details = ?, updated_at = ?, ${endJobSql}`,
    values: [id, request.chunks.length, details, db.now],
  });
}

interface NoteEdit extends Scope {
  readonly id: number;
  readonly text: string;
  readonly contentHash: string;
  readonly bytes: number;
  /** Used if the note's current title was also derived from its text. */
  readonly derivedTitle: string;
  readonly derivedFilename: string;
  readonly chunks: readonly NewChunk[];
}

type NoteEditOutcome =
  | { readonly outcome: 'edited'; readonly document: StoredDocument }
  | { readonly outcome: 'not_found' | 'not_a_note' }
  /** Another document has exactly the same bytes. */
  | { readonly outcome: 'duplicate'; readonly id: number; readonly title: string };

export async function editNote(
  db: Statements,
  { id, text, contentHash, bytes, derivedTitle, derivedFilename, chunks, ...scope }: NoteEdit,
): Promise<NoteEditOutcome> {
  const [before] = await documentsById(db, [id], db.dialect.forUpdate);
  if (before === undefined) return { outcome: 'not_found' };
  if ((await documentNote(db, { id })) === undefined) return { outcome: 'not_a_note' };
  await lock(db, `kb content ${contentHash}`);
  const otherHolders = (await contentHolders(db, contentHash)).filter(({ document }) => document !== id);
  const duplicate = otherHolders.find(({ document, tags }) => document !== undefined && isVisible(tags, scope));
  if (duplicate?.document !== undefined) {
    return { outcome: 'duplicate', id: duplicate.document, title: duplicate.title ?? '' };
  }
  // The note is a copy if another holder already has this content. An unfinished job that the caller can see does not count: it
  // will end as a duplicate of this note.
  const isCopy = otherHolders.some(({ job, tags, ...holder }) => !holder.isCopy && !(job && isVisible(tags, scope)));
  const isDerived = before.details['derivedTitle'] === true;
  const title = isDerived ? storable(derivedTitle) : before.title;
  await updateDocument(db, id, {
    title,
    note: storable(text),
    filename: isDerived ? storable(derivedFilename) : before.filename,
    content_hash: contentHash,
    is_copy: isCopy ? 1 : null,
    bytes,
    chunk_count: chunks.length,
  });
  await writeChunks(db, { id, title, labels: labelsOf(before.docType, before.tags), chunks });
  await recordChange(db, { kind: 'note', document: before, chunkCount: chunks.length, details: {} });
  const [document] = await documentsById(db, [id]);
  return document === undefined ? { outcome: 'not_found' } : { outcome: 'edited', document };
}
