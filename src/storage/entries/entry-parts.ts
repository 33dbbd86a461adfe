import type { ColumnType, Statements } from '../dialect.ts';
import { type Condition, columnsOf, type RecordOf, recordOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { entryWords, removeWords, writeWords } from '../words/word-indexes.ts';
import { entryFields, type Metadata, type NewImage } from './entry.ts';
import type { FieldIndex } from './field-index.ts';
import { metadataFields } from './metadata.ts';
/** Replaces the tags of an entry. */
export async function writeTags(on: Statements, entry: number, tags: readonly string[]): Promise<void> {
  await on.query('DELETE FROM context_tags WHERE entry = ?', [entry]);
  await runAll(on, insertTags(on, [{ id: entry, tags }]));
}

/** Replaces the images of an entry. */
export async function writeImages(on: Statements, entry: number, images: readonly NewImage[]): Promise<void> {
  await on.query('DELETE FROM context_images WHERE entry = ?', [entry]);
  for (const [position, { data, mimeType, metadata }] of images.entries()) {
    await on.query(`INSERT INTO context_images (entry, position, mime_type, metadata, data) VALUES (?, ?, ?, ?, ?)`, [
      entry,
      position,
      mimeType,
      metadata === undefined ? null : JSON.stringify(metadata),
      data,
    ]);
  }
}

/** Replaces the indexed metadata fields of an entry. The metadata itself is in the entry's row. */
export async function writeFields(on: Statements, entry: number, metadata: Metadata, index: FieldIndex): Promise<void> {
  await on.query('DELETE FROM context_fields WHERE entry = ?', [entry]);
  await runAll(on, insertFields(on, [{ id: entry, metadata }], index));
}

export async function replaceWords(on: Statements, entry: number, text: string): Promise<void> {
  await removeWords(on, entryWords, [entry]);
  await addWords(on, [{ id: entry, text }]);
}

/** Adds the words of entries to the index. For `otherWrites`, see `WriteWords`. */
export async function addWords(
  on: Statements,
  entries: readonly { readonly id: number; readonly text: string }[],
  otherWrites: readonly Condition[] = [],
): Promise<void> {
  const documents = entries.map(({ id, text }) => ({ key: id, title: '', heading: '', body: text }));
  await writeWords(on, entryWords, documents, otherWrites);
}

export function insertTags(
  on: Statements,
  entries: readonly { readonly id: number; readonly tags: readonly string[] }[],
): Condition[] {
  const rows = entries.flatMap(({ id, tags }) => tags.map((tag) => [id, tag]));
  return insertRows(on, 'context_tags (entry, tag)', ['bigint', 'text'], rows);
}

const fieldTypes: readonly ColumnType[] = ['bigint', 'text', 'integer', 'text', 'text', 'text', 'text', 'float8'];

export function insertFields(
  on: Statements,
  entries: readonly { readonly id: number; readonly metadata: Metadata | undefined }[],
  index: FieldIndex,
): Condition[] {
  const rows = entries.flatMap(({ id, metadata = {} }) =>
    metadataFields(metadata, index).map(({ path, member, kind, head, folded, exact, number }) => {
      return [id, path, member, kind, head, folded, exact === folded ? null : exact, number];
    }),
  );
  return insertRows(on, 'context_fields (entry, path, member, kind, head, folded, exact, number)', fieldTypes, rows);
}

const { id, source, text, textHash } = entryFields;
const dueFields = { id, source, text, textHash };

export type TextToSummarise = RecordOf<typeof dueFields>;

/** Returns entries that need a summary, oldest first. */
export async function unsummarisedEntries(
  on: Statements,
  { limit }: { readonly limit: number },
): Promise<TextToSummarise[]> {
  const rows = await on.query(
    `SELECT ${columnsOf(dueFields)} FROM context_entries
      WHERE summary_due = 1 AND deleted_at IS NULL ORDER BY key LIMIT ?`,
    [limit],
  );
  return rows.map((row) => recordOf(dueFields, row));
}

/**
 * Stores the summary of a text; undefined if none can be made. Does nothing if the text was changed or removed meanwhile.
 */
export async function putSummary(
  on: Statements,
  { id, textHash, summary }: Pick<TextToSummarise, 'id' | 'textHash'> & { readonly summary: string | undefined },
): Promise<void> {
  await on.query(
    `UPDATE context_entries SET summary = ?, summary_due = 0 WHERE key = ? AND text_hash = ? AND deleted_at IS NULL`,
    [summary === undefined ? null : storable(summary), id, textHash],
  );
}

/** Max rows per statement. */
const rowsMax = 100;

/** Returns statements that insert rows. Rows that already exist stay unchanged. */
function insertRows(
  on: Statements,
  into: string,
  types: readonly ColumnType[],
  rows: readonly (readonly (string | number | null)[])[],
): Condition[] {
  const statements: Condition[] = [];
  for (let at = 0; at < rows.length; at += rowsMax) {
    const { sql, values } = on.dialect.rows(types, rows.slice(at, at + rowsMax));
    statements.push({ sql: `INSERT INTO ${into} ${sql} ON CONFLICT DO NOTHING`, values });
  }
  return statements;
}

export async function runAll(on: Statements, statements: readonly Condition[]): Promise<void> {
  for (const { sql, values } of statements) await on.query(sql, values);
}
