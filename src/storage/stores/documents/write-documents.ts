import type { NoteEdit, NoteEditOutcome } from '../../contracts/documents.ts';
import type { FinishOutcome, FinishRequest, StoredJob } from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { lock } from '../idempotency.ts';
import { leaveRecord } from './audit.ts';
import { holdersOf, isWithin, substituteHash } from './content-holders.ts';
import { takeDeleted } from './deleted-documents.ts';
import { documentsOf, jobOf } from './document-rows.ts';
import { replaceDocument, replacedBy } from './replace-document.ts';
import { labelsOf } from './selection.ts';
import { writeChunks } from './write-chunks.ts';

export async function finishJob(on: Statements, request: FinishRequest): Promise<FinishOutcome> {
  const [row] = await on.query(
    `SELECT * FROM ${on.dialect.schema}kb_jobs WHERE key = ? AND status = 'processing'
      AND lease_owner = ? ${on.dialect.forUpdate}`,
    [request.id, request.owner],
  );
  if (row === undefined) return { outcome: 'lost' };
  const job = jobOf(row);
  const identity = textOf(row, 'content_hash');
  const bytesHash = optionalTextOf(row, 'bytes_hash') ?? null;
  const hash = bytesHash ?? identity;
  // The document first, as whoever edits a note does.
  const before = await replacedBy(on, job);
  await lock(on, `kb content ${hash}`);
  const twin = await documentWith(on, identity, before?.id ?? 0);
  if (twin !== undefined) {
    const message = `Document ${twin.id} has the same content. Nothing was added.`;
    await failJob(on, job.id, message, 'duplicate', twin.id);
    return { outcome: 'duplicate', documentId: twin.id };
  }
  const note = optionalTextOf(row, 'note');
  if (before !== undefined && Number(before.details['writtenBy'] ?? 0) > job.id) {
    const message = `A newer version of document ${before.id} is stored already. Nothing was changed.`;
    await failJob(on, job.id, message, 'superseded', before.id);
    return { outcome: 'superseded', documentId: before.id };
  }
  if (before !== undefined) {
    await replaceDocument(on, before, {
      ...request,
      job,
      hash,
      identity,
      bytesHash,
      bytes: numberOf(row, 'bytes'),
      note,
    });
    await endJob(on, job, before.id, request);
    return {
      outcome: 'done',
      documentId: before.id,
      ...(before.contentHash === hash ? {} : { freed: before.contentHash }),
    };
  }
  const restored = await takeDeleted(on, job.details);
  const [column, given, place] = restored.id === undefined ? ['', '', ''] : ['key, ', on.dialect.keys.given, '?, '];
  const [inserted = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}kb_documents (${column}title, doc_type, filename, source_path, content_hash,
      bytes_hash, content_type, bytes, language, details, chunk_count, created_at) ${given}
      VALUES (${place}?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      ...(restored.id === undefined ? [] : [restored.id]),
      storable(request.title),
      storable(request.docType),
      textOf(row, 'filename'),
      // Of a file that was to replace a document which is gone by now.
      job.sourcePath ?? (note === undefined ? textOf(row, 'filename') : null),
      identity,
      bytesHash,
      storable(request.contentType),
      numberOf(row, 'bytes'),
      request.language ?? null,
      JSON.stringify(request.details),
      request.chunks.length,
      restored.createdAt ?? on.now,
    ],
  );
  const id = numberOf(inserted, 'key');
  await writeTags(on, id, job.tags);
  if (note !== undefined)
    await on.query(`INSERT INTO ${on.dialect.schema}kb_notes (document, text) VALUES (?, ?)`, [id, note]);
  await writeChunks(on, id, storable(request.title), labelsOf(storable(request.docType), job.tags), request.chunks);
  await endJob(on, job, id, request);
  return { outcome: 'done', documentId: id };
}

async function failJob(on: Statements, id: number, message: string, code: string, document: number): Promise<void> {
  await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'failed', error = ?, error_code = ?, document_id = ?,
      note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE key = ?`,
    [message, code, document, on.now, id],
  );
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
  { id, text, contentHash, bytes, derivedTitle, derivedFilename, chunks: fresh, anyTags }: NoteEdit,
): Promise<NoteEditOutcome> {
  const rows = await on.query(`SELECT * FROM ${on.dialect.schema}kb_documents WHERE key = ? ${on.dialect.forUpdate}`, [
    id,
  ]);
  const [before] = await documentsOf(on, rows);
  if (before === undefined) return { outcome: 'not_found' };
  const [note] = await on.query(`SELECT document FROM ${on.dialect.schema}kb_notes WHERE document = ?`, [id]);
  if (note === undefined) return { outcome: 'not_a_note' };
  await lock(on, `kb content ${contentHash}`);
  const others = (await holdersOf(on, contentHash)).filter(({ document }) => document !== id);
  const twin = others.find(({ document, tags }) => document !== undefined && isWithin(tags, anyTags));
  if (twin?.document !== undefined) return { outcome: 'duplicate', id: twin.document, title: twin.title ?? '' };
  // A job that the caller may not know of must not find its content taken; one that they may know of is told so.
  const isFirst = others.every(
    ({ identity, job, tags }) => identity !== contentHash || (job !== undefined && isWithin(tags, anyTags)),
  );
  const isDerived = before.details['derivedTitle'] === true;
  const title = isDerived ? storable(derivedTitle) : before.title;
  const filename = isDerived ? storable(derivedFilename) : before.filename;
  await on.query(`UPDATE ${on.dialect.schema}kb_notes SET text = ? WHERE document = ?`, [storable(text), id]);
  await on.query(
    `UPDATE ${on.dialect.schema}kb_documents SET title = ?, filename = ?, content_hash = ?, bytes_hash = ?, bytes = ?,
      chunk_count = ?, updated_at = ? WHERE key = ?`,
    [
      title,
      filename,
      ...(isFirst ? [contentHash, null] : [substituteHash(), contentHash]),
      bytes,
      fresh.length,
      on.now,
      id,
    ],
  );
  await on.query(`DELETE FROM ${on.dialect.schema}kb_chunks WHERE document = ?`, [id]);
  await writeChunks(on, id, title, labelsOf(before.docType, before.tags), fresh);
  await leaveRecord(on, { kind: 'note', document: before, chunkCount: fresh.length, details: {} });
  const [document] = await documentsOf(
    on,
    await on.query(`SELECT * FROM ${on.dialect.schema}kb_documents WHERE key = ?`, [id]),
  );
  return document === undefined ? { outcome: 'not_found' } : { outcome: 'edited', document };
}

async function documentWith(
  on: Statements,
  hash: string,
  except: number,
): Promise<{ id: number; title: string } | undefined> {
  const [row] = await on.query(
    `SELECT key, title FROM ${on.dialect.schema}kb_documents WHERE content_hash = ? AND key <> ?`,
    [hash, except],
  );
  return row === undefined ? undefined : { id: numberOf(row, 'key'), title: textOf(row, 'title') };
}

async function writeTags(on: Statements, id: number, own: readonly string[]): Promise<void> {
  for (const [position, tag] of own.entries()) {
    await on.query(`INSERT INTO ${on.dialect.schema}kb_document_tags (document, tag, position) VALUES (?, ?, ?)`, [
      id,
      tag,
      position,
    ]);
  }
}
