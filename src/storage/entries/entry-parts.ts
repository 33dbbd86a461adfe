import type { ColumnType, Statements } from '../dialect.ts';
import { batchesOf, columnsOf, type RecordOf, recordOf, type SqlFragment } from '../rows.ts';
import { storable } from '../storable.ts';
import { entryWords, removeWords, writeWords } from '../words/word-indexes.ts';
import { entryFields, type Metadata, type NewImage } from './entry.ts';
import type { FieldIndex } from './field-index.ts';
import { metadataFields } from './metadata.ts';

/** Replaces the tags of an entry. */
export async function writeTags(db: Statements, entry: number, tags: readonly string[]): Promise<void> {
  await db.query('DELETE FROM context_tags WHERE entry = ?', [entry]);
  await runAll(db, tagInserts(db, [{ id: entry, tags }]));
}

/** Replaces the images of an entry. */
export async function writeImages(db: Statements, entry: number, images: readonly NewImage[]): Promise<void> {
  await db.query('DELETE FROM context_images WHERE entry = ?', [entry]);
  for (const [position, { data, mimeType, metadata }] of images.entries()) {
    await db.query(`INSERT INTO context_images (entry, position, mime_type, metadata, data) VALUES (?, ?, ?, ?, ?)`, [
      entry,
      position,
      mimeType,
      metadata === undefined ? null : JSON.stringify(metadata),
      data,
    ]);
  }
}

/** Replaces the indexed metadata fields of an entry. The metadata itself is in the entry's row. */
export async function writeFields(db: Statements, entry: number, metadata: Metadata, index: FieldIndex): Promise<void> {
  await db.query('DELETE FROM context_fields WHERE entry = ?', [entry]);
  await runAll(db, fieldInserts(db, [{ id: entry, metadata }], index));
}

export async function replaceWords(db: Statements, entry: number, text: string): Promise<void> {
  await removeWords(db, entryWords, [entry]);
  await addWords(db, [{ id: entry, text }]);
}

/** Adds the words of entries to the index. For `otherWrites`, see `WriteWords`. */
export async function addWords(
  db: Statements,
  entries: readonly { readonly id: number; readonly text: string }[],
  otherWrites: readonly SqlFragment[] = [],
): Promise<void> {
  const documents = entries.map(({ id, text }) => ({ key: id, title: '', heading: '', body: text }));
  await writeWords(db, entryWords, documents, otherWrites);
}

export function tagInserts(
  db: Statements,
  entries: readonly { readonly id: number; readonly tags: readonly string[] }[],
): SqlFragment[] {
  const rows = entries.flatMap(({ id, tags }) => tags.map((tag) => [id, tag]));
  return rowInserts(db, 'context_tags (entry, tag)', ['bigint', 'text'], rows);
}

const fieldTypes: readonly ColumnType[] = ['bigint', 'text', 'integer', 'text', 'text', 'text', 'text', 'float8'];

export function fieldInserts(
  db: Statements,
  entries: readonly { readonly id: number; readonly metadata: Metadata | undefined }[],
  index: FieldIndex,
): SqlFragment[] {
  const rows = entries.flatMap(({ id, metadata = {} }) =>
    metadataFields(metadata, index).map(({ path, member, kind, head, folded, exact, number }) => {
      return [id, path, member, kind, head, folded, exact === folded ? null : exact, number];
    }),
  );
  return rowInserts(db, 'context_fields (entry, path, member, kind, head, folded, exact, number)', fieldTypes, rows);
}

const { id, source, text, textHash } = entryFields;
const summaryFields = { id, source, text, textHash };

export type TextToSummarise = RecordOf<typeof summaryFields>;

/** Returns entries that need a summary, oldest first. */
export async function unsummarisedEntries(
  db: Statements,
  { limit }: { readonly limit: number },
): Promise<TextToSummarise[]> {
  const rows = await db.query(
    `SELECT ${columnsOf(summaryFields)} FROM context_entries
      WHERE summary_due = 1 AND deleted_at IS NULL ORDER BY key LIMIT ?`,
    [limit],
  );
  return rows.map((row) => recordOf(summaryFields, row));
}

/** Stores the summary of a text; undefined if none can be made. Does nothing if the text was changed or removed meanwhile. */
export async function putSummary(
  db: Statements,
  { id, textHash, summary }: Pick<TextToSummarise, 'id' | 'textHash'> & { readonly summary: string | undefined },
): Promise<void> {
  await db.query(
    `UPDATE context_entries SET summary = ?, summary_due = 0 WHERE key = ? AND text_hash = ? AND deleted_at IS NULL`,
    [summary === undefined ? null : storable(summary), id, textHash],
  );
}

/** Max rows per statement. */
const rowsMax = 100;

/** Returns statements that insert rows. Rows that already exist stay unchanged. */
function rowInserts(
  db: Statements,
  into: string,
  types: readonly ColumnType[],
  rows: readonly (readonly (string | number | null)[])[],
): SqlFragment[] {
  return [...batchesOf(rows, rowsMax)].map((batch) => {
    const { sql, values } = db.dialect.rows(types, batch);
    return { sql: `INSERT INTO ${into} ${sql} ON CONFLICT DO NOTHING`, values };
  });
}

export async function runAll(db: Statements, statements: readonly SqlFragment[]): Promise<void> {
  for (const { sql, values } of statements) await db.query(sql, values);
}
