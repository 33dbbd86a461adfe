import type { Statements } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import { assignmentOf, numberOf, optionalTextOf, textOf, valuesOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { holdersOf, isVisible, substituteHash } from './contents.ts';
import { takeDeleted } from './deleted-documents.ts';
import type { NoteEdit, NoteEditOutcome, StoredDocument } from './document.ts';
import { documentsById, insertTags, jobOf } from './document-rows.ts';
import type { FinishOutcome, FinishRequest, StoredJob } from './ingestion.ts';
import { recordChange } from './jobs.ts';
import { documentNote } from './read-documents.ts';
import { labelsOf } from './selection.ts';
import { writeChunks } from './write-chunks.ts';

/** Writes the document and its chunks and ends the job, in one transaction. */
export async function finishJob(on: Statements, request: FinishRequest): Promise<FinishOutcome> {
  const { schema, forUpdate } = on.dialect;
  const [row] = await on.query(
    `SELECT * FROM ${schema}kb_jobs WHERE key = ? AND status = 'processing' AND lease_owner = ? ${forUpdate}`,
    [request.id, request.owner],
  );
  if (row === undefined) return { outcome: 'lost' };
  const job = jobOf(row);
  const identity = textOf(row, 'content_hash');
  const bytesHash = optionalTextOf(row, 'bytes_hash') ?? null;
  const hash = bytesHash ?? identity;
  // Locks the document before its content, as `editNote` does.
  const { replaces } = job.details;
  const [before] = typeof replaces === 'number' ? await documentsById(on, [replaces], forUpdate) : [];
  await lock(on, `kb content ${hash}`);
  const [twin] = await on.query(`SELECT key FROM ${schema}kb_documents WHERE content_hash = ? AND key <> ?`, [
    identity,
    before?.id ?? 0,
  ]);
  if (twin !== undefined) {
    const documentId = numberOf(twin, 'key');
    const message = `Document ${documentId} has the same content. Nothing was added.`;
    return failFinished(on, job.id, { message, outcome: 'duplicate', documentId });
  }
  // Jobs may end out of order; an older one must not overwrite a newer one's text.
  if (before !== undefined && Number(before.details['writtenBy'] ?? 0) > job.id) {
    const message = `A newer version of document ${before.id} is already stored. Nothing was changed.`;
    return failFinished(on, job.id, { message, outcome: 'superseded', documentId: before.id });
  }
  const note = optionalTextOf(row, 'note');
  const document: DocumentRow = {
    title: storable(titleAfter(before, job, request, hash)),
    doc_type: storable(request.docType),
    filename: textOf(row, 'filename'),
    // A file without a path was meant to replace a document that is gone. Its file name serves as the path.
    source_path:
      job.sourcePath ?? (before || note !== undefined ? (before?.sourcePath ?? null) : textOf(row, 'filename')),
    content_hash: identity,
    bytes_hash: bytesHash,
    content_type: storable(request.contentType),
    bytes: numberOf(row, 'bytes'),
    language: request.language ?? null,
    details: JSON.stringify(before === undefined ? request.details : { ...request.details, writtenBy: job.id }),
    chunk_count: request.chunks.length,
    note: note ?? null,
  };
  const id = before === undefined ? await insertDocument(on, document, job) : before.id;
  if (before !== undefined) await updateDocument(on, id, document);
  const labels = labelsOf(document.doc_type, before?.tags ?? job.tags);
  await writeChunks(on, { id, title: document.title, labels, chunks: request.chunks });
  await endJob(on, job, id, request);
  const isFreed = before !== undefined && before.contentHash !== hash;
  return { outcome: 'done', documentId: id, ...(isFreed ? { freed: before.contentHash } : {}) };
}

interface DocumentRow extends Readonly<Record<string, string | number | null>> {
  readonly title: string;
  readonly doc_type: string;
}

/** A title given by a person stays. */
function titleAfter(before: StoredDocument | undefined, job: StoredJob, request: FinishRequest, hash: string): string {
  if (before === undefined) return request.title;
  if (job.title !== undefined) return job.title;
  const { derivedTitle = before.contentHash !== hash } = before.details;
  return derivedTitle === true ? request.title : before.title;
}

/** A restored document gets its old id, if free, and its date. */
async function insertDocument(on: Statements, document: DocumentRow, job: StoredJob): Promise<number> {
  const { schema, keys } = on.dialect;
  const { id, createdAt = on.now } = await takeDeleted(on, job.details);
  const { columns, places, values } = valuesOf({
    ...(id === undefined ? {} : { key: id }),
    ...document,
    created_at: createdAt,
  });
  const [row = {}] = await on.query(
    `INSERT INTO ${schema}kb_documents (${columns}) ${id === undefined ? '' : keys.given} VALUES (${places}) RETURNING key`,
    values,
  );
  const key = numberOf(row, 'key');
  await insertTags(on, key, job.tags);
  return key;
}

async function updateDocument(
  on: Statements,
  id: number,
  changed: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  const { sql, values } = assignmentOf({ ...changed, updated_at: on.now });
  await on.query(`UPDATE ${on.dialect.schema}kb_documents SET ${sql} WHERE key = ?`, [...values, id]);
}

async function failFinished<Outcome extends 'duplicate' | 'superseded'>(
  on: Statements,
  job: number,
  { message, outcome, documentId }: { message: string; outcome: Outcome; documentId: number },
): Promise<{ outcome: Outcome; documentId: number }> {
  await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'failed', error = ?, error_code = ?, document_id = ?,
      note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE key = ?`,
    [message, outcome, documentId, on.now, job],
  );
  return { outcome, documentId };
}

async function endJob(on: Statements, job: StoredJob, id: number, request: FinishRequest): Promise<void> {
  const { truncated } = request.details;
  const leftOut = truncated === undefined ? {} : { truncated };
  await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'done', phase = 'indexing', phase_done = NULL,
      phase_total = NULL, error = NULL,
      document_id = ?, chunk_count = ?, details = ?, note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ?
      WHERE key = ?`,
    [id, request.chunks.length, JSON.stringify({ ...job.details, ...leftOut }), on.now, job.id],
  );
}

export async function editNote(
  on: Statements,
  { id, text, contentHash, bytes, derivedTitle, derivedFilename, chunks, anyTags }: NoteEdit,
): Promise<NoteEditOutcome> {
  const [before] = await documentsById(on, [id], on.dialect.forUpdate);
  if (before === undefined) return { outcome: 'not_found' };
  if ((await documentNote(on, { id })) === undefined) return { outcome: 'not_a_note' };
  await lock(on, `kb content ${contentHash}`);
  const others = (await holdersOf(on, contentHash)).filter(({ document }) => document !== id);
  const twin = others.find(({ document, tags }) => document !== undefined && isVisible(tags, anyTags));
  if (twin?.document !== undefined) return { outcome: 'duplicate', id: twin.document, title: twin.title ?? '' };
  // A document or job that the caller may not see keeps the content hash. A visible waiting job will end as a duplicate.
  const isFirst = others.every(
    ({ identity, job, tags }) => identity !== contentHash || (job !== undefined && isVisible(tags, anyTags)),
  );
  const isDerived = before.details['derivedTitle'] === true;
  const title = isDerived ? storable(derivedTitle) : before.title;
  await updateDocument(on, id, {
    title,
    note: storable(text),
    filename: isDerived ? storable(derivedFilename) : before.filename,
    content_hash: isFirst ? contentHash : substituteHash(),
    bytes_hash: isFirst ? null : contentHash,
    bytes,
    chunk_count: chunks.length,
  });
  await writeChunks(on, { id, title, labels: labelsOf(before.docType, before.tags), chunks });
  await recordChange(on, { kind: 'note', document: before, chunkCount: chunks.length, details: {} });
  const [document] = await documentsById(on, [id]);
  return document === undefined ? { outcome: 'not_found' } : { outcome: 'edited', document };
}
