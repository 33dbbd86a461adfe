import type { NewChunk, NoteEdit, NoteEditOutcome } from '../../contracts/documents.ts';
import type { FinishOutcome, FinishRequest } from '../../contracts/ingestion.ts';
import type { NewPassage } from '../../contracts/passages.ts';
import { numberOf, optionalTextOf, type Statements, textOf } from '../../statements.ts';
import { storable } from '../../storable.ts';
import { lock } from '../entries/idempotency.ts';
import { replacePassages } from '../passages/write-passages.ts';
import { leaveRecord } from './audit.ts';
import { documentsOf, jobOf } from './document-rows.ts';
import { labelsOf, parentOf } from './selection.ts';

/** Rows that one statement carries. */
const rowsAtOnce = 100;

export async function finishJob(on: Statements, request: FinishRequest): Promise<FinishOutcome> {
  const [row] = await on.query(
    `SELECT * FROM ${on.dialect.schema}kb_jobs WHERE key = ? AND status = 'processing'
      AND lease_owner = ? ${on.dialect.forUpdate}`,
    [request.id, request.owner],
  );
  if (row === undefined) return { outcome: 'lost' };
  const job = jobOf(row);
  const hash = textOf(row, 'content_hash');
  await lock(on, `kb content ${hash}`);
  const twin = await documentWith(on, hash, 0);
  if (twin !== undefined) {
    const message = `Document ${twin.id} has the same content. Nothing was added.`;
    await on.query(
      `UPDATE ${on.dialect.schema}kb_jobs SET status = 'failed', error = ?, error_code = 'duplicate', document_id = ?,
        note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE key = ?`,
      [message, twin.id, on.now, job.id],
    );
    return { outcome: 'duplicate', documentId: twin.id };
  }
  const [inserted = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}kb_documents (title, doc_type, filename, source_path, content_hash, content_type,
      bytes, language, details, chunk_count, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      storable(request.title),
      storable(request.docType),
      textOf(row, 'filename'),
      job.sourcePath ?? null,
      hash,
      storable(request.contentType),
      numberOf(row, 'bytes'),
      request.language ?? null,
      JSON.stringify(request.details),
      request.chunks.length,
      on.now,
    ],
  );
  const id = numberOf(inserted, 'key');
  await writeTags(on, id, job.tags);
  const note = optionalTextOf(row, 'note');
  if (note !== undefined)
    await on.query(`INSERT INTO ${on.dialect.schema}kb_notes (document, text) VALUES (?, ?)`, [id, note]);
  await writeChunks(on, id, storable(request.title), labelsOf(storable(request.docType), job.tags), request.chunks);
  const { truncated } = request.details;
  const leftOut = truncated === undefined ? {} : { truncated };
  await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'done', phase = 'indexing', phase_done = NULL,
      phase_total = NULL, error = NULL,
      document_id = ?, chunk_count = ?, details = ?, note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ?
      WHERE key = ?`,
    [id, request.chunks.length, JSON.stringify({ ...job.details, ...leftOut }), on.now, job.id],
  );
  return { outcome: 'done', documentId: id };
}

export async function editNote(
  on: Statements,
  { id, text, contentHash, bytes, derivedTitle, derivedFilename, chunks: fresh }: NoteEdit,
): Promise<NoteEditOutcome> {
  const rows = await on.query(`SELECT * FROM ${on.dialect.schema}kb_documents WHERE key = ? ${on.dialect.forUpdate}`, [
    id,
  ]);
  const [before] = await documentsOf(on, rows);
  if (before === undefined) return { outcome: 'not_found' };
  const [note] = await on.query(`SELECT document FROM ${on.dialect.schema}kb_notes WHERE document = ?`, [id]);
  if (note === undefined) return { outcome: 'not_a_note' };
  await lock(on, `kb content ${contentHash}`);
  const twin = await documentWith(on, contentHash, id);
  if (twin !== undefined) return { outcome: 'duplicate', ...twin };
  const isDerived = before.details['derivedTitle'] === true;
  const title = isDerived ? storable(derivedTitle) : before.title;
  const filename = isDerived ? storable(derivedFilename) : before.filename;
  await on.query(`UPDATE ${on.dialect.schema}kb_notes SET text = ? WHERE document = ?`, [storable(text), id]);
  await on.query(
    `UPDATE ${on.dialect.schema}kb_documents SET title = ?, filename = ?, content_hash = ?, bytes = ?,
      chunk_count = ?, updated_at = ? WHERE key = ?`,
    [title, filename, contentHash, bytes, fresh.length, on.now, id],
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

async function writeChunks(
  on: Statements,
  id: number,
  title: string,
  labels: readonly string[],
  fresh: readonly NewChunk[],
): Promise<void> {
  const passages = fresh.map(
    ({ text, headings, vectors }, position): NewPassage => ({
      // Ties of a ranking are broken by these, so they sort like the numbers they hold.
      id: `${String(id).padStart(12, '0')}:${String(position).padStart(6, '0')}`,
      position,
      title,
      headings,
      body: text,
      labels,
      vectors,
    }),
  );
  await replacePassages(on, [{ parent: parentOf(id), passages }]);
  const rows = fresh.flatMap(({ metadata }, position) =>
    Object.keys(metadata).length === 0 ? [] : [[id, position, storable(JSON.stringify(metadata))]],
  );
  for (let first = 0; first < rows.length; first += rowsAtOnce) {
    const some = rows.slice(first, first + rowsAtOnce);
    const places = some.map(() => '(?, ?, ?)').join(', ');
    await on.query(
      `INSERT INTO ${on.dialect.schema}kb_chunks (document, position, metadata) VALUES ${places}`,
      some.flat(),
    );
  }
}
