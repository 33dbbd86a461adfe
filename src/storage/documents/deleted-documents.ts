import { daysBefore } from '../../base/days-before.ts';
import type { Statements } from '../dialect.ts';
import { keptDays } from '../entries/entry.ts';
import { lock } from '../idempotency.ts';
import { type Condition, numberOf, optionalTextOf, type Row, textOf, valuesOf } from '../rows.ts';
import { holdersOf, isVisible } from './contents.ts';
import type { DeletedDocument, DeletedPage, RestoreDocumentOutcome, StoredDocument } from './document.ts';
import type { Scope } from './ingestion.ts';
import { addIngestJob, knownContent, withAnyTag } from './jobs.ts';

/** Records what is needed to restore these documents, before they are deleted. */
export async function keepDeleted(on: Statements, documents: readonly StoredDocument[]): Promise<void> {
  const { schema, integers } = on.dialect;
  const rows = await on.query(`SELECT key, note FROM ${schema}kb_documents WHERE key IN (${integers})`, [
    { list: documents.map(({ id }) => id) },
  ]);
  const notes = new Map(rows.map((row) => [numberOf(row, 'key'), optionalTextOf(row, 'note')]));
  for (const document of documents) {
    const { columns, places, values } = valuesOf({
      document: document.id,
      title: document.title,
      doc_type: document.docType,
      filename: document.filename,
      source_path: document.sourcePath ?? null,
      content_hash: document.contentHash,
      content_type: document.contentType,
      bytes: document.bytes,
      tags: JSON.stringify(document.tags),
      note: notes.get(document.id) ?? null,
      created_at: document.createdAt,
      deleted_at: on.now,
    });
    await on.query(`INSERT INTO ${schema}kb_deleted (${columns}) VALUES (${places})`, values);
  }
}

/** Restorable documents, last deleted first. */
export async function listDeleted(
  on: Statements,
  { anyTags, limit, offset }: Scope & { limit: number; offset: number },
): Promise<DeletedPage> {
  const { sql, values } = restorable(on, { anyTags });
  const from = `FROM ${on.dialect.schema}kb_deleted WHERE ${sql}`;
  const rows = await on.query(
    `SELECT document, title, doc_type, source_path, bytes, tags, created_at, deleted_at ${from}
      ORDER BY deleted_at DESC, document DESC LIMIT ? OFFSET ?`,
    [...values, limit, offset],
  );
  const [count = {}] = await on.query(`SELECT count(*) AS total ${from}`, values);
  return { documents: rows.map(deletedOf), total: numberOf(count, 'total') };
}

function deletedOf(row: Row): DeletedDocument {
  return {
    id: numberOf(row, 'document'),
    title: textOf(row, 'title'),
    docType: textOf(row, 'doc_type'),
    sourcePath: optionalTextOf(row, 'source_path'),
    bytes: numberOf(row, 'bytes'),
    tags: JSON.parse(textOf(row, 'tags')),
    createdAt: textOf(row, 'created_at'),
    deletedAt: textOf(row, 'deleted_at'),
  };
}

/** Deletes these documents for good. Returns the hashes of their contents, to be released. */
export async function purgeDeleted(
  on: Statements,
  { ids, anyTags }: Scope & { ids: readonly number[] },
): Promise<string[]> {
  const { sql, values } = restorable(on, { anyTags });
  const rows = await on.query(
    `DELETE FROM ${on.dialect.schema}kb_deleted WHERE ${sql} AND document IN (${on.dialect.integers})
      RETURNING content_hash`,
    [...values, { list: ids }],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}

function restorable(on: Statements, { anyTags }: Scope): Condition {
  const narrowed = withAnyTag(on, anyTags);
  return {
    sql: `deleted_at >= ?${narrowed ? ` AND ${narrowed.sql}` : ''}`,
    values: [daysBefore(on.now, keptDays), ...(narrowed?.values ?? [])],
  };
}

/** Starts a job that recreates the document under its old id, from its original bytes. */
export async function restoreDocument(
  on: Statements,
  { id, anyTags }: Scope & { id: number },
): Promise<RestoreDocumentOutcome> {
  const [row] = await on.query(
    `SELECT * FROM ${on.dialect.schema}kb_deleted WHERE document = ? AND deleted_at >= ? ${on.dialect.forUpdate}`,
    [id, daysBefore(on.now, keptDays)],
  );
  const tags: string[] = row === undefined ? [] : JSON.parse(textOf(row, 'tags'));
  if (row === undefined || !isVisible(tags, anyTags)) return { outcome: 'not_found' };
  const hash = textOf(row, 'content_hash');
  await lock(on, `kb content ${hash}`);
  const holders = await holdersOf(on, hash);
  const known = knownContent(
    holders.filter((holder) => isVisible(holder.tags, anyTags)),
    undefined,
  );
  if (known !== undefined) return known;
  const job = await addIngestJob(on, {
    filename: textOf(row, 'filename'),
    title: textOf(row, 'title'),
    docType: textOf(row, 'doc_type'),
    sourcePath: optionalTextOf(row, 'source_path'),
    contentType: textOf(row, 'content_type'),
    tags,
    note: optionalTextOf(row, 'note'),
    hash,
    isFirst: holders.every(({ identity }) => identity !== hash),
    bytes: numberOf(row, 'bytes'),
    details: { restores: id, createdAt: textOf(row, 'created_at') },
  });
  return { outcome: 'accepted', job };
}

/** The old id (if free) and date of the document that a job restores. Removes the document from the deleted ones. */
export async function takeDeleted(
  on: Statements,
  details: Readonly<Record<string, unknown>>,
): Promise<{ id?: number; createdAt?: string }> {
  const { restores: id, createdAt } = details;
  if (typeof id !== 'number' || typeof createdAt !== 'string') return {};
  await on.query(`DELETE FROM ${on.dialect.schema}kb_deleted WHERE document = ?`, [id]);
  const [taken] = await on.query(`SELECT key FROM ${on.dialect.schema}kb_documents WHERE key = ?`, [id]);
  return taken === undefined ? { id, createdAt } : { createdAt };
}

/** Forgets documents that can no longer be restored, then the oldest until the rest fits. Returns the hashes of their contents. */
export async function forgetDeleted(
  on: Statements,
  { bytesMax, limit }: { bytesMax: number; limit: number },
): Promise<string[]> {
  const { schema } = on.dialect;
  const rows = await on.query(
    `DELETE FROM ${schema}kb_deleted WHERE document IN (
       SELECT document FROM (SELECT document, deleted_at,
         sum(bytes) OVER (ORDER BY deleted_at DESC, document DESC) AS total FROM ${schema}kb_deleted) kept
       WHERE deleted_at < ? OR total > ? LIMIT ?) RETURNING content_hash`,
    [daysBefore(on.now, keptDays), bytesMax, limit],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}
