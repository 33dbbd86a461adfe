import type { Statements } from '../dialect.ts';
import { columnsOf, field, type RecordOf, recordOf } from '../record.ts';
import { numberOf, type Row, textOf } from '../rows.ts';

/** Without the text of a note, which may be long. */
const documentFields = {
  id: field.number('key'),
  title: field.text('title'),
  docType: field.text('doc_type'),
  filename: field.text('filename'),
  sourcePath: field.optionalText('source_path'),
  /** SHA-256 of the given bytes, in hex. Unique among the documents that one caller may see. */
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
  /** In the given order. */
  readonly tags: readonly string[];
}

/** Existing documents, by id. `lock`: suffix of the SELECT. */
export async function documentsById(on: Statements, ids: readonly number[], lock = ''): Promise<StoredDocument[]> {
  const { schema, integers } = on.dialect;
  const sql = `SELECT ${documentColumns} FROM ${schema}kb_documents WHERE key IN (${integers}) ORDER BY key ${lock}`;
  return documentsOf(on, await on.query(sql, [{ list: ids }]));
}

/** The documents of these rows, in order, with their tags. */
export async function documentsOf(on: Statements, rows: readonly Row[]): Promise<StoredDocument[]> {
  const documents = rows.map((row) => recordOf(documentFields, row));
  const tags = await tagsOf(
    on,
    documents.map(({ id }) => id),
  );
  return documents.map((document) => ({ ...document, tags: tags.get(document.id) ?? [] }));
}

/** The tags of each document, in the given order. */
export async function tagsOf(on: Statements, ids: readonly number[]): Promise<Map<number, string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await on.query(
    `SELECT document, tag FROM ${on.dialect.schema}kb_document_tags WHERE document IN (${on.dialect.integers})
      ORDER BY document, position`,
    [{ list: ids }],
  );
  const byDocument = Map.groupBy(rows, (row) => numberOf(row, 'document'));
  return new Map([...byDocument].map(([id, tags]) => [id, tags.map((tag) => textOf(tag, 'tag'))]));
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
