import type { IndexedTexts } from '../../words/ranking/word-index.ts';
import type { Statements } from '../dialect.ts';
import { type BoundValue, batchesOf, numberOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { passageWords } from '../words/word-indexes.ts';
import { parentOf } from './selection.ts';

/** A chunk to write. Title and tags come from its document. */
export interface NewChunk {
  readonly text: string;
  /** Headings above the chunk, outermost first. */
  readonly headings: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface DocumentChunks {
  readonly id: number;
  readonly title: string;
  readonly labels: readonly string[];
  readonly chunks: readonly NewChunk[];
}

/** Replaces the chunks of a document, including their words and metadata. */
export async function writeChunks(db: Statements, document: DocumentChunks): Promise<void> {
  const { words } = db.dialect;
  const rows = passageRows(document);
  // Tokenising starts before the rows are written, so that another thread can do it meanwhile. The words are written last,
  // because deleting rows makes FTS5 flush its pending words; see `removePassages`.
  const writeWords = words.tokenize(rows);
  await removePassages(db, [document.id]);
  const keys = await insertPassages(db, rows);
  // Not by a trigger, which would double SQLite's time per row.
  await db.query(
    `INSERT INTO kb_unembedded (model, owner) SELECT m.key, p.key FROM vector_models m
     CROSS JOIN kb_passages p WHERE m.corpus = 'kb' AND m.name IS NOT NULL AND p.parent = ?`,
    [parentOf(document.id)],
  );
  await writeWords(db, passageWords, keys);
}

/** Deletes the passages of documents, if there are any. Even a DELETE of no rows makes FTS5 flush its pending words. */
export async function removePassages(db: Statements, documents: readonly number[]): Promise<void> {
  const passages = `kb_passages WHERE parent IN (${db.dialect.texts})`;
  const list = [{ list: documents.map(parentOf) }];
  const [existing] = await db.query(`SELECT 1 AS existing FROM ${passages} LIMIT 1`, list);
  if (existing !== undefined) await db.query(`DELETE FROM ${passages}`, list);
}

/** Passages per UPDATE. PostgreSQL plans the trigger's statements for few rows; for many, the plan would be slow. */
const relabelledAtOnce = 25;

/** Replaces the labels of all passages of a document. */
export async function relabelPassages(db: Statements, document: number, labels: readonly string[]): Promise<void> {
  const { fewIntegers, words } = db.dialect;
  const [parent, distinctLabels] = [parentOf(document), distinct(labels)];
  await words.relabelPassages(db, parent, distinctLabels);
  const rows = await db.query('SELECT key FROM kb_passages WHERE parent = ?', [parent]);
  for (const batch of batchesOf(rows, relabelledAtOnce)) {
    await db.query(`UPDATE kb_passages SET labels = ? WHERE key IN (${fewIntegers})`, [
      { list: distinctLabels },
      { list: batch.map((row) => numberOf(row, 'key')) },
    ]);
  }
}

interface PassageRow extends IndexedTexts {
  readonly id: string;
  readonly values: readonly BoundValue[];
  readonly labels: readonly string[];
}

function passageRows({ id, chunks, ...document }: DocumentChunks): PassageRow[] {
  const [title, labels] = [storable(document.title), distinct(document.labels)];
  return chunks.map((chunk, position) => {
    // Zero-padded, because ids break ties in a ranking and must sort like numbers.
    const passage = `${String(id).padStart(12, '0')}:${String(position).padStart(6, '0')}`;
    const headings = chunk.headings.map(storable);
    const body = storable(chunk.text);
    const metadata = storable(JSON.stringify(chunk.metadata));
    return {
      id: passage,
      title,
      heading: headings.join('\n'),
      body,
      labels,
      values: [passage, parentOf(id), position, title, { list: headings }, body, { list: labels }, metadata],
    };
  });
}

function distinct(labels: readonly string[]): string[] {
  return [...new Set(labels.map(storable))];
}

/** Inserts passages and returns their keys. */
async function insertPassages(db: Statements, rows: readonly PassageRow[]): Promise<number[]> {
  const { rowsPerInsert } = db.dialect;
  const keys = new Map<string, number>();
  for (const batch of batchesOf(rows, rowsPerInsert)) {
    const placeholders = batch.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ');
    const inserted = await db.query(
      `INSERT INTO kb_passages (id, parent, position, title, headings, body, labels, metadata)
       VALUES ${placeholders}
       RETURNING id, key`,
      batch.flatMap(({ values }) => values),
    );
    for (const row of inserted) keys.set(textOf(row, 'id'), numberOf(row, 'key'));
  }
  return rows.map(({ id }) => keys.get(id) ?? 0);
}
