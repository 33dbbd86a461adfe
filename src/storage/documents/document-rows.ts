import type { Statements } from '../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../rows.ts';
import type { StoredDocument } from './document.ts';
import type { JobKind, JobPhase, JobStatus, StoredJob } from './ingestion.ts';

/** Without the text of a note, which may be long. */
export const documentColumns = [
  ...['key', 'title', 'doc_type', 'filename', 'source_path', 'content_hash', 'bytes_hash', 'content_type', 'bytes'],
  ...['language', 'details', 'chunk_count', 'created_at', 'updated_at'],
].join(', ');

/** Existing documents, by id. `lock`: suffix of the SELECT. */
export async function documentsById(on: Statements, ids: readonly number[], lock = ''): Promise<StoredDocument[]> {
  const { schema, integers } = on.dialect;
  const sql = `SELECT ${documentColumns} FROM ${schema}kb_documents WHERE key IN (${integers}) ORDER BY key ${lock}`;
  return documentsOf(on, await on.query(sql, [{ list: ids }]));
}

/** Adds tags to a document that has none. */
export async function insertTags(on: Statements, document: number, tags: readonly string[]): Promise<void> {
  for (const [position, tag] of tags.entries()) {
    await on.query(`INSERT INTO ${on.dialect.schema}kb_document_tags (document, tag, position) VALUES (?, ?, ?)`, [
      document,
      tag,
      position,
    ]);
  }
}

/** The documents of these rows, in order, with their tags. */
export async function documentsOf(on: Statements, rows: readonly Row[]): Promise<StoredDocument[]> {
  if (rows.length === 0) return [];
  const tagRows = await on.query(
    `SELECT document, tag FROM ${on.dialect.schema}kb_document_tags WHERE document IN (${on.dialect.integers})
      ORDER BY document, position`,
    [{ list: rows.map((row) => numberOf(row, 'key')) }],
  );
  const tags = Map.groupBy(tagRows, (row) => numberOf(row, 'document'));
  return rows.map((row) =>
    documentOf(
      row,
      (tags.get(numberOf(row, 'key')) ?? []).map((tag) => textOf(tag, 'tag')),
    ),
  );
}

function documentOf(row: Row, tags: string[]): StoredDocument {
  return {
    id: numberOf(row, 'key'),
    title: textOf(row, 'title'),
    docType: textOf(row, 'doc_type'),
    filename: textOf(row, 'filename'),
    sourcePath: optionalTextOf(row, 'source_path'),
    contentHash: optionalTextOf(row, 'bytes_hash') ?? textOf(row, 'content_hash'),
    contentType: textOf(row, 'content_type'),
    bytes: numberOf(row, 'bytes'),
    language: optionalTextOf(row, 'language'),
    details: JSON.parse(textOf(row, 'details')),
    chunkCount: numberOf(row, 'chunk_count'),
    tags,
    createdAt: textOf(row, 'created_at'),
    updatedAt: optionalTextOf(row, 'updated_at'),
  };
}

/** Without the text of a waiting note, which may be long. */
export const jobColumns = [
  ...['key', 'kind', 'status', 'filename', 'title', 'doc_type', 'source_path', 'tags', 'phase', 'phase_done'],
  ...['phase_total', 'error', 'error_code', 'document_id', 'chunk_count', 'content_hash', 'bytes_hash', 'attempts'],
  ...['details', 'created_at', 'updated_at'],
].join(', ');

export function jobOf(row: Row): StoredJob {
  return {
    id: numberOf(row, 'key'),
    // The schema allows no other values.
    kind: textOf(row, 'kind') as JobKind,
    status: textOf(row, 'status') as JobStatus,
    filename: optionalTextOf(row, 'filename'),
    title: optionalTextOf(row, 'title'),
    docType: optionalTextOf(row, 'doc_type'),
    sourcePath: optionalTextOf(row, 'source_path'),
    tags: JSON.parse(textOf(row, 'tags')),
    progress: {
      phase: textOf(row, 'phase') as JobPhase,
      done: optionalNumberOf(row, 'phase_done'),
      total: optionalNumberOf(row, 'phase_total'),
    },
    error: optionalTextOf(row, 'error'),
    errorCode: optionalTextOf(row, 'error_code'),
    documentId: optionalNumberOf(row, 'document_id'),
    chunkCount: optionalNumberOf(row, 'chunk_count'),
    contentHash: optionalTextOf(row, 'bytes_hash') ?? optionalTextOf(row, 'content_hash'),
    attempts: numberOf(row, 'attempts'),
    details: JSON.parse(textOf(row, 'details')),
    createdAt: textOf(row, 'created_at'),
    updatedAt: textOf(row, 'updated_at'),
  };
}

function optionalNumberOf(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : numberOf(row, column);
}
