import type { Metadata, NewImage } from '../../contracts/entries.ts';
import type { ColumnType, Statements } from '../../dialect.ts';
import { entryWords } from '../words/word-indexes.ts';
import { removeWords, writeWords } from '../words/write-words.ts';
import type { FieldIndex } from './indexed-fields.ts';
import { metadataFields } from './metadata-fields.ts';

/*
 * What belongs to an entry and lies in tables of its own. `write` replaces what was there, `add` knows that nothing was.
 */

/** Rows that go into one statement. */
const rowsMax = 100;

export async function writeTags(on: Statements, entry: number, tags: readonly string[]): Promise<void> {
  await on.query(`DELETE FROM ${on.dialect.schema}context_tags WHERE entry = ?`, [entry]);
  await addTags(on, [{ entry, tags }]);
}

export async function writeImages(on: Statements, entry: number, images: readonly NewImage[]): Promise<void> {
  await on.query(`DELETE FROM ${on.dialect.schema}context_images WHERE entry = ?`, [entry]);
  for (const [position, { data, mimeType, metadata }] of images.entries()) {
    await on.query(
      `INSERT INTO ${on.dialect.schema}context_images (entry, position, mime_type, metadata, data)
        VALUES (?, ?, ?, ?, ?)`,
      [entry, position, mimeType, metadata === undefined ? null : JSON.stringify(metadata), data],
    );
  }
}

/** The fields that the index holds; the metadata itself is in the entry's row. */
export async function writeFields(
  on: Statements,
  entry: number,
  metadata: Metadata | undefined,
  index: FieldIndex,
): Promise<void> {
  await on.query(`DELETE FROM ${on.dialect.schema}context_fields WHERE entry = ?`, [entry]);
  if (metadata !== undefined) await addFields(on, [{ entry, metadata }], index);
}

/** The entry has no summary yet, and one shall be made. */
export async function wantSummary(on: Statements, entry: number): Promise<void> {
  await on.query(`INSERT INTO ${on.dialect.schema}context_summary_queue (entry) VALUES (?) ON CONFLICT DO NOTHING`, [
    entry,
  ]);
}

export async function dropSummary(on: Statements, entry: number): Promise<void> {
  await on.query(`DELETE FROM ${on.dialect.schema}context_summary_queue WHERE entry = ?`, [entry]);
}

export async function replaceWords(on: Statements, entry: number, text: string): Promise<void> {
  await removeWords(on, entryWords, [entry]);
  await addWords(on, [{ entry, text }]);
}

const fieldTypes: readonly ColumnType[] = ['bigint', 'text', 'integer', 'text', 'text', 'text', 'text', 'float8'];

/** Also for entries of which the index holds something already. */
export async function addFields(
  on: Statements,
  entries: readonly { entry: number; metadata: Metadata }[],
  index: FieldIndex,
): Promise<void> {
  const rows = entries.flatMap(({ entry, metadata }) =>
    metadataFields(metadata, index).map(({ path, member, kind, head, folded, exact, number }) => {
      return [entry, path, member, kind, head, folded, exact === folded ? null : exact, number];
    }),
  );
  const columns = '(entry, path, member, kind, head, folded, exact, number)';
  await insert(on, `${on.dialect.schema}context_fields ${columns}`, fieldTypes, rows);
}

export async function addTags(
  on: Statements,
  entries: readonly { entry: number; tags: readonly string[] }[],
): Promise<void> {
  await insert(
    on,
    `${on.dialect.schema}context_tags (entry, tag)`,
    ['bigint', 'text'],
    entries.flatMap(({ entry, tags }) => tags.map((tag) => [entry, tag])),
  );
}

export async function addWords(on: Statements, entries: readonly { entry: number; text: string }[]): Promise<void> {
  const documents = entries.map(({ entry, text }) => ({ key: entry, title: '', heading: '', body: text }));
  await writeWords(on, entryWords, documents);
}

/** Rows of one table in as few statements as may be. What is there already stays. */
async function insert(
  on: Statements,
  into: string,
  types: readonly ColumnType[],
  rows: readonly (readonly (string | number | null)[])[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsMax) {
    const { sql, values } = on.dialect.rows(types, rows.slice(at, at + rowsMax));
    await on.query(`INSERT INTO ${into} ${sql} ON CONFLICT DO NOTHING`, values);
  }
}
