import type { Statements } from '../dialect.ts';
import { columnsOf, field, numberOf, type RecordOf, type Row, recordOf, textOf } from '../rows.ts';

/** The fields of a document, without the text of a note, which may be long. */
const documentFields = {
  id: field.number('key'),
  title: field.text('title'),
  docType: field.text('doc_type'),
  filename: field.text('filename'),
  sourcePath: field.optionalText('source_path'),
  /** SHA-256 of the original bytes, in hex. Unique among the documents that a caller may see. */
  contentHash: field.text('content_hash'),
  contentType: field.text('content_type'),
  bytes: field.number('bytes'),
  language: field.optionalText('language'),
  details: field.json<Readonly<Record<string, unknown>>>('details'),
  chunkCount: field.number('chunk_count'),
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: field.text('created_at'),
  updatedAt: field.optionalText('updated_at'),
};

export const documentColumns = columnsOf(documentFields);

export interface StoredDocument extends RecordOf<typeof documentFields> {
  /** In the order in which they were added. */
  readonly tags: readonly string[];
}

/** Returns the documents that exist, by id. `lock` is a suffix of the SELECT, such as `forUpdate`. */
export async function documentsById(db: Statements, ids: readonly number[], lock = ''): Promise<StoredDocument[]> {
  const { integers } = db.dialect;
  const sql = `SELECT ${documentColumns} FROM kb_documents WHERE key IN (${integers}) ORDER BY key ${lock}`;
  return documentsOf(db, await db.query(sql, [{ list: ids }]));
}

/** Returns the documents of these rows, in their order, with their tags. */
export async function documentsOf(db: Statements, rows: readonly Row[]): Promise<StoredDocument[]> {
  const documents = rows.map((row) => recordOf(documentFields, row));
  const tags = await tagsOf(
    db,
    documents.map(({ id }) => id),
  );
  return documents.map((document) => ({ ...document, tags: tags.get(document.id) ?? [] }));
}

/** Returns the tags of each document, in the order in which they were added. */
export async function tagsOf(db: Statements, ids: readonly number[]): Promise<Map<number, string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query(
    `SELECT document, tag FROM kb_document_tags WHERE document IN (${db.dialect.integers}) ORDER BY document, position`,
    [{ list: ids }],
  );
  const byDocument = Map.groupBy(rows, (row) => numberOf(row, 'document'));
  return new Map([...byDocument].map(([id, tags]) => [id, tags.map((tag) => textOf(tag, 'tag'))]));
}

/** Adds tags to a document that has none yet. */
export async function insertTags(db: Statements, document: number, tags: readonly string[]): Promise<void> {
  for (const [position, tag] of tags.entries()) {
    await db.query('INSERT INTO kb_document_tags (document, tag, position) VALUES (?, ?, ?)', [
      document,
      tag,
      position,
    ]);
  }
}
