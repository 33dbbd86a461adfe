import { daysBefore } from '../../base/days-before.ts';
import type { Statements } from '../dialect.ts';
import { restorableDays } from '../entries/entry.ts';
import { lock } from '../idempotency.ts';
import {
  columnsOf,
  field,
  numberOf,
  optionalTextOf,
  type RecordOf,
  recordOf,
  type SqlFragment,
  textOf,
} from '../rows.ts';
import { allOf, readPage } from '../statements.ts';
import { type AcceptOutcome, addIngestJob, contentHolders, existingContent } from './accept-job.ts';
import type { StoredDocument } from './document.ts';
import { isVisible, type Scope, visibleRows } from './selection.ts';

/** Stores the fields that are needed to restore these documents. Call it before they are deleted. */
export async function storeDeleted(db: Statements, documents: readonly StoredDocument[]): Promise<void> {
  const columns = 'title, doc_type, filename, source_path, content_hash, content_type, bytes, note, created_at';
  for (const { id, tags } of documents) {
    await db.query(
      `INSERT INTO kb_deleted (document, ${columns}, tags, deleted_at)
        SELECT key, ${columns}, CAST(? AS text), CAST(? AS text) FROM kb_documents WHERE key = ?`,
      [JSON.stringify(tags), db.now, id],
    );
  }
}

const deletedFields = {
  id: field.number('document'),
  title: field.text('title'),
  docType: field.text('doc_type'),
  sourcePath: field.optionalText('source_path'),
  bytes: field.number('bytes'),
  tags: field.json<readonly string[]>('tags'),
  createdAt: field.text('created_at'),
  deletedAt: field.text('deleted_at'),
};

/** A deleted document that can be restored. */
export type DeletedDocument = RecordOf<typeof deletedFields>;

/** Lists documents that can be restored, last deleted first. */
export async function listDeleted(
  db: Statements,
  { limit, offset, ...scope }: Scope & { limit: number; offset: number },
): Promise<{ documents: DeletedDocument[]; total: number }> {
  const { sql, values } = restorableCondition(db, scope);
  const from = { sql: `kb_deleted WHERE ${sql}`, values };
  const order = 'deleted_at DESC, document DESC';
  const { rows, total } = await readPage(db, columnsOf(deletedFields), from, order, { limit, offset });
  return { documents: rows.map((row) => recordOf(deletedFields, row)), total };
}

/** Purges deleted documents. Returns the hashes of their originals, which the caller must release. */
export async function purgeDeleted(
  db: Statements,
  { ids, ...scope }: Scope & { ids: readonly number[] },
): Promise<string[]> {
  const { sql, values } = restorableCondition(db, scope);
  const rows = await db.query(
    `DELETE FROM kb_deleted WHERE ${sql} AND document IN (${db.dialect.integers}) RETURNING content_hash`,
    [...values, { list: ids }],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}

function restorableCondition(db: Statements, scope: Scope): SqlFragment {
  const isRecent = { sql: 'deleted_at >= ?', values: [daysBefore(db.now, restorableDays)] };
  return allOf([isRecent, ...visibleRows(scope, db.dialect)]);
}

/** Like `AcceptOutcome`, for the job that restores the document. */
type RestoreOutcome = AcceptOutcome | { readonly outcome: 'not_found' };

/** Starts a job that recreates the document under its old id, from its original bytes. */
export async function restoreDocument(
  db: Statements,
  { id, ...scope }: Scope & { id: number },
): Promise<RestoreOutcome> {
  const [row] = await db.query(
    `SELECT * FROM kb_deleted WHERE document = ? AND deleted_at >= ? ${db.dialect.forUpdate}`,
    [id, daysBefore(db.now, restorableDays)],
  );
  const tags: string[] = row === undefined ? [] : JSON.parse(textOf(row, 'tags'));
  if (row === undefined || !isVisible(tags, scope)) return { outcome: 'not_found' };
  const hash = textOf(row, 'content_hash');
  await lock(db, `kb content ${hash}`);
  const holders = await contentHolders(db, hash);
  const existing = existingContent(holders.filter((holder) => isVisible(holder.tags, scope)));
  if (existing !== undefined) return existing;
  const job = await addIngestJob(db, {
    filename: textOf(row, 'filename'),
    title: textOf(row, 'title'),
    docType: textOf(row, 'doc_type'),
    sourcePath: optionalTextOf(row, 'source_path'),
    contentType: textOf(row, 'content_type'),
    tags,
    note: optionalTextOf(row, 'note'),
    hash,
    isCopy: holders.some((holder) => !holder.isCopy),
    bytes: numberOf(row, 'bytes'),
    details: { restores: id, createdAt: textOf(row, 'created_at') },
  });
  return { outcome: 'accepted', job };
}

/** Removes the record of the deleted document that a job restores. Returns its creation date and, if free, its id. */
export async function claimDeleted(
  db: Statements,
  details: Readonly<Record<string, unknown>>,
): Promise<{ id?: number; createdAt?: string }> {
  const { restores: id, createdAt } = details;
  if (typeof id !== 'number' || typeof createdAt !== 'string') return {};
  await db.query('DELETE FROM kb_deleted WHERE document = ?', [id]);
  const [used] = await db.query('SELECT key FROM kb_documents WHERE key = ?', [id]);
  return used === undefined ? { id, createdAt } : { createdAt };
}

/**
 * Purges documents that can no longer be restored, then the oldest until the remaining ones fit into `bytesMax`. Purges at most
 * `limit` per call. Returns the hashes of their originals.
 */
export async function pruneDeleted(
  db: Statements,
  { bytesMax, limit }: { bytesMax: number; limit: number },
): Promise<string[]> {
  const rows = await db.query(
    `DELETE FROM kb_deleted WHERE document IN (
       SELECT document FROM (SELECT document, deleted_at,
         sum(bytes) OVER (ORDER BY deleted_at DESC, document DESC) AS total FROM kb_deleted) d
       WHERE deleted_at < ? OR total > ? LIMIT ?) RETURNING content_hash`,
    [daysBefore(db.now, restorableDays), bytesMax, limit],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}
