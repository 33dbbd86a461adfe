import type { NewChunk, NoteEdit, NoteEditOutcome } from '../../contracts/documents.ts';
import type { FinishOutcome, FinishRequest } from '../../contracts/ingestion.ts';
import { storable } from '../../contracts/notes.ts';
import type { NewPassage } from '../../contracts/passages.ts';
import { numberOf, optionalTextOf, textOf } from '../../statements.ts';
import { lock } from '../entries/idempotency.ts';
import { query } from '../entries/work.ts';
import { createAudit } from './audit.ts';
import { documentsOf, jobOf } from './document-rows.ts';
import { type DocumentDialect, type DocumentWork, labelsOf, parentOf, tablesOf } from './document-work.ts';

export interface IngestWork {
  finish(request: FinishRequest, now: string): DocumentWork<FinishOutcome>;
  editNote(request: NoteEdit, now: string): DocumentWork<NoteEditOutcome>;
}

/** Rows that one statement carries. */
const rowsAtOnce = 100;

/** The two ways in which content becomes searchable: a job that ends well, and a note that is written anew. */
export function createIngestWork(dialect: DocumentDialect): IngestWork {
  const { documents, notes, chunks, tags, jobs } = tablesOf(dialect);
  const audit = createAudit(dialect);

  return {
    *finish(request, now) {
      const [row] = yield* query(
        `SELECT * FROM ${jobs} WHERE key = ? AND status = 'processing' AND lease_owner = ? ${dialect.forUpdate}`,
        ...[request.id, request.owner],
      );
      if (row === undefined) return { outcome: 'lost' };
      const job = jobOf(row);
      const hash = textOf(row, 'content_hash');
      yield* lock(`kb content ${hash}`, dialect);
      const twin = yield* documentWith(hash, 0);
      if (twin !== undefined) {
        const message = `Document ${twin.id} has the same content. Nothing was added.`;
        yield* query(
          `UPDATE ${jobs} SET status = 'failed', error = ?, error_code = 'duplicate', document_id = ?, note = NULL,
             lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE key = ?`,
          ...[message, twin.id, now, job.id],
        );
        return { outcome: 'duplicate', documentId: twin.id };
      }
      const [inserted = {}] = yield* query(
        `INSERT INTO ${documents} (title, doc_type, filename, source_path, content_hash, content_type, bytes, language,
           details, chunk_count, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
        ...[storable(request.title), storable(request.docType), textOf(row, 'filename'), job.sourcePath ?? null, hash],
        ...[storable(request.contentType), numberOf(row, 'bytes'), request.language ?? null],
        ...[JSON.stringify(request.details), request.chunks.length, now],
      );
      const id = numberOf(inserted, 'key');
      yield* writeTags(id, job.tags);
      const note = optionalTextOf(row, 'note');
      if (note !== undefined) yield* query(`INSERT INTO ${notes} (document, text) VALUES (?, ?)`, id, note);
      yield* writeChunks(id, storable(request.title), labelsOf(storable(request.docType), job.tags), request.chunks);
      yield* query(
        `UPDATE ${jobs} SET status = 'done', phase = 'indexing', phase_done = NULL, phase_total = NULL, error = NULL,
           document_id = ?, chunk_count = ?, note = NULL, lease_owner = NULL, lease_until = NULL, updated_at = ? WHERE key = ?`,
        ...[id, request.chunks.length, now, job.id],
      );
      return { outcome: 'done', documentId: id };
    },
    *editNote({ id, text, contentHash, bytes, derivedTitle, derivedFilename, chunks: fresh }, now) {
      const rows = yield* query(`SELECT * FROM ${documents} WHERE key = ? ${dialect.forUpdate}`, id);
      const [before] = yield* documentsOf(rows, dialect);
      if (before === undefined) return { outcome: 'not_found' };
      const [note] = yield* query(`SELECT document FROM ${notes} WHERE document = ?`, id);
      if (note === undefined) return { outcome: 'not_a_note' };
      yield* lock(`kb content ${contentHash}`, dialect);
      const twin = yield* documentWith(contentHash, id);
      if (twin !== undefined) return { outcome: 'duplicate', ...twin };
      const isDerived = before.details['derivedTitle'] === true;
      const title = isDerived ? storable(derivedTitle) : before.title;
      const filename = isDerived ? storable(derivedFilename) : before.filename;
      yield* query(`UPDATE ${notes} SET text = ? WHERE document = ?`, storable(text), id);
      yield* query(
        `UPDATE ${documents} SET title = ?, filename = ?, content_hash = ?, bytes = ?, chunk_count = ?, updated_at = ? WHERE key = ?`,
        ...[title, filename, contentHash, bytes, fresh.length, now, id],
      );
      yield* query(`DELETE FROM ${chunks} WHERE document = ?`, id);
      yield* writeChunks(id, title, labelsOf(before.docType, before.tags), fresh);
      yield* audit({ kind: 'note', document: before, chunkCount: fresh.length, details: {} }, now);
      const [document] = yield* documentsOf(yield* query(`SELECT * FROM ${documents} WHERE key = ?`, id), dialect);
      return document === undefined ? { outcome: 'not_found' } : { outcome: 'edited', document };
    },
  };

  function* documentWith(hash: string, except: number): DocumentWork<{ id: number; title: string } | undefined> {
    const [row] = yield* query(`SELECT key, title FROM ${documents} WHERE content_hash = ? AND key <> ?`, hash, except);
    return row === undefined ? undefined : { id: numberOf(row, 'key'), title: textOf(row, 'title') };
  }

  function* writeTags(id: number, own: readonly string[]): DocumentWork<void> {
    for (const [position, tag] of own.entries()) {
      yield* query(`INSERT INTO ${tags} (document, tag, position) VALUES (?, ?, ?)`, id, tag, position);
    }
  }

  function* writeChunks(
    id: number,
    title: string,
    labels: readonly string[],
    fresh: readonly NewChunk[],
  ): DocumentWork<void> {
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
    yield (engine) => engine.writePassages({ parent: parentOf(id), passages });
    const rows = fresh.flatMap(({ metadata }, position) =>
      Object.keys(metadata).length === 0 ? [] : [[id, position, storable(JSON.stringify(metadata))]],
    );
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      const some = rows.slice(first, first + rowsAtOnce);
      const places = some.map(() => '(?, ?, ?)').join(', ');
      yield* query(`INSERT INTO ${chunks} (document, position, metadata) VALUES ${places}`, ...some.flat());
    }
  }
}
