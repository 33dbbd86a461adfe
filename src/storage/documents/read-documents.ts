import type { Statements } from '../dialect.ts';
import { columnsOf, field, numberOf, optionalTextOf, type RecordOf, recordOf, textOf } from '../rows.ts';
import { allOf, readPage } from '../statements.ts';
import { storable } from '../storable.ts';
import { documentColumns, documentsById, documentsOf, type StoredDocument } from './document.ts';
import {
  collectionRange,
  type DocumentSelection,
  parentOf,
  type Scope,
  selectionCondition,
  taggedWithAny,
} from './selection.ts';

export async function getDocument(db: Statements, { id }: { id: number }): Promise<StoredDocument | undefined> {
  const [document] = await documentsById(db, [id]);
  return document;
}

export const documentSorts = ['changed', 'added', 'title', 'type', 'chunks'] as const;

export interface DocumentSort {
  readonly by: (typeof documentSorts)[number];
  readonly descending: boolean;
}

const sortColumns: Record<DocumentSort['by'], string> = {
  changed: 'coalesce(o.updated_at, o.created_at)',
  added: 'o.created_at',
  title: 'lower(o.title)',
  type: 'o.doc_type',
  chunks: 'o.chunk_count',
};

interface DocumentListRequest {
  readonly selection: DocumentSelection;
  /** Default: last changed first. */
  readonly sort?: DocumentSort | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function listDocuments(
  db: Statements,
  { selection, sort = { by: 'changed', descending: true }, limit, offset }: DocumentListRequest,
): Promise<{ documents: StoredDocument[]; total: number }> {
  const direction = sort.descending ? 'DESC' : 'ASC';
  const { sql, values } = selectionCondition(selection, db.dialect);
  const from = { sql: `kb_documents o WHERE ${sql}`, values };
  const order = `${sortColumns[sort.by]} ${direction}, o.key ${direction}`;
  const { rows, total } = await readPage(db, documentColumns, from, order, { limit, offset });
  return { documents: await documentsOf(db, rows), total };
}

const chunkFields = {
  /** Key of the passage. */
  key: field.number('key'),
  position: field.number('position'),
  text: field.text('body'),
  metadata: field.json<Readonly<Record<string, unknown>>>('metadata'),
};

export type StoredChunk = RecordOf<typeof chunkFields>;

interface ChunksRequest {
  readonly document: number;
  /** Position of the first chunk. */
  readonly from?: number | undefined;
  readonly limit?: number | undefined;
  /** Max characters in total. At least one chunk is returned, even if it is longer. */
  readonly charsMax?: number | undefined;
}

/** Max chunks per query, to avoid reading more than needed. */
const chunksAtOnce = 500;

/** Returns chunks of a document, in order. */
export async function documentChunks(
  db: Statements,
  { document, from = 0, limit = Number.POSITIVE_INFINITY, charsMax = Number.POSITIVE_INFINITY }: ChunksRequest,
): Promise<StoredChunk[]> {
  const chunks: StoredChunk[] = [];
  let chars = 0;
  for (let first = from; chunks.length < limit; ) {
    const batchSize = Math.min(chunksAtOnce, limit - chunks.length);
    const rows = await db.query(`${selectChunks} WHERE p.parent = ? AND p.position >= ? ORDER BY p.position LIMIT ?`, [
      parentOf(document),
      first,
      batchSize,
    ]);
    for (const chunk of rows.map((row) => recordOf(chunkFields, row))) {
      chars += chunk.text.length;
      if (chars > charsMax && chunks.length > 0) return chunks;
      chunks.push(chunk);
      first = chunk.position + 1;
    }
    if (rows.length < batchSize) break;
  }
  return chunks;
}

const selectChunks = `SELECT parent, ${columnsOf(chunkFields)} FROM kb_passages p`;

/** Selects documents by id, or all documents that the caller may see. */
type PendingRequest = { readonly model: string } & ({ readonly documents: readonly number[] } | Required<Scope>);

/** Counts the chunks without vectors of the model, per document. Omits documents without such chunks. */
export async function pendingChunks(
  db: Statements,
  request: PendingRequest,
): Promise<{ document: number; chunks: number }[]> {
  const { texts } = db.dialect;
  const ofDocuments =
    'documents' in request
      ? [{ sql: `p.parent IN (${texts})`, values: [{ list: request.documents.map(parentOf) }] }]
      : taggedWithAny('CAST(p.parent AS bigint)', request, db.dialect);
  const isPending = `EXISTS (SELECT 1 FROM kb_unembedded u JOIN vector_models m ON m.key = u.model
    WHERE u.owner = p.key AND m.name = ?)`;
  const { sql, values } = allOf([...ofDocuments, { sql: isPending, values: [request.model] }]);
  const rows = await db.query(
    `SELECT p.parent, count(*) AS chunks FROM kb_passages p WHERE ${sql} GROUP BY p.parent`,
    values,
  );
  return rows.map((row) => ({ document: Number(textOf(row, 'parent')), chunks: numberOf(row, 'chunks') }));
}

export interface LocatedChunk extends StoredChunk {
  readonly document: StoredDocument;
  readonly neighbours: readonly { readonly position: number; readonly text: string }[];
}

/** Returns chunks by passage key, in the order of the keys, each with its document and `neighbours` chunks on both sides. */
export async function locatedChunks(
  db: Statements,
  { keys, neighbours }: { keys: readonly number[]; neighbours: number },
): Promise<LocatedChunk[]> {
  const rows = await db.query(`${selectChunks} WHERE p.key IN (${db.dialect.integers})`, [{ list: keys }]);
  const ids = [...new Set(rows.map((row) => Number(textOf(row, 'parent'))))];
  const documents = new Map((await documentsById(db, ids)).map((document) => [document.id, document]));
  const located = new Map<number, LocatedChunk>();
  for (const row of rows) {
    const document = documents.get(Number(textOf(row, 'parent')));
    if (document === undefined) continue;
    const chunk = recordOf(chunkFields, row);
    const around = neighbours > 0 ? await neighboursOf(db, document.id, chunk.position, neighbours) : [];
    located.set(chunk.key, { ...chunk, document, neighbours: around });
  }
  return keys.flatMap((key) => located.get(key) ?? []);
}

/** Returns the text of a note. Undefined for other documents. */
export async function documentNote(db: Statements, { id }: { id: number }): Promise<string | undefined> {
  const [row] = await db.query('SELECT note FROM kb_documents WHERE key = ?', [id]);
  return row && optionalTextOf(row, 'note');
}

/** Counts the documents of each type, the most common type first. */
export async function documentTypes(db: Statements, scope: Scope): Promise<{ type: string; count: number }[]> {
  const { sql, values } = selectionCondition(scope, db.dialect);
  const rows = await db.query(
    `SELECT o.doc_type, count(*) AS total FROM kb_documents o WHERE ${sql}
      GROUP BY o.doc_type ORDER BY count(*) DESC, o.doc_type LIMIT ${typesMax}`,
    values,
  );
  return rows.map((row) => ({ type: textOf(row, 'doc_type'), count: numberOf(row, 'total') }));
}

/** Max types returned. Types are free text, so there may be many. */
const typesMax = 100;

const tagUseFields = { tag: field.text('tag'), count: field.number('total') };

type TagUse = RecordOf<typeof tagUseFields>;

interface TagsListRequest extends Scope {
  /** If set, only tags after this one, in alphabetical order. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** Counts the documents with each tag, in order of the tags. */
export async function documentTags(
  db: Statements,
  { after, limit = Number.MAX_SAFE_INTEGER, ...scope }: TagsListRequest,
): Promise<TagUse[]> {
  const { sql, values } = allOf([
    ...taggedWithAny('document', scope, db.dialect),
    ...(after === undefined ? [] : [{ sql: 'tag > ?', values: [storable(after)] }]),
  ]);
  const rows = await db.query(
    `SELECT tag, count(*) AS total FROM kb_document_tags WHERE ${sql} GROUP BY tag ORDER BY tag LIMIT ?`,
    [...values, limit],
  );
  return rows.map((row) => recordOf(tagUseFields, row));
}

const countFields = {
  documents: field.number('documents'),
  chunks: field.number('chunks'),
  /** Total size of the originals. */
  bytes: field.number('bytes'),
  /** Number of distinct tags that begin with `collection:`. */
  collections: field.number('collections'),
};

export async function countDocuments(db: Statements, scope: Scope): Promise<RecordOf<typeof countFields>> {
  const documents = selectionCondition({ anyTags: scope.anyTags }, db.dialect);
  const inScope = scope.anyTags && {
    sql: `tag IN (${db.dialect.texts})`,
    values: [{ list: scope.anyTags.map(storable) }],
  };
  const tags = allOf([{ sql: collectionRange, values: [] }, ...(inScope ? [inScope] : [])]);
  const [row = {}] = await db.query(
    `SELECT count(*) AS documents, coalesce(sum(o.chunk_count), 0) AS chunks, coalesce(sum(o.bytes), 0) AS bytes,
      (SELECT count(DISTINCT tag) FROM kb_document_tags WHERE ${tags.sql}) AS collections
      FROM kb_documents o WHERE ${documents.sql}`,
    [...tags.values, ...documents.values],
  );
  return recordOf(countFields, row);
}

async function neighboursOf(
  db: Statements,
  id: number,
  position: number,
  count: number,
): Promise<LocatedChunk['neighbours']> {
  const rows = await db.query(
    `SELECT position, body FROM kb_passages WHERE parent = ? AND position BETWEEN ? AND ?
      AND position <> ? ORDER BY position`,
    [parentOf(id), position - count, position + count, position],
  );
  return rows.map((row) => ({ position: numberOf(row, 'position'), text: textOf(row, 'body') }));
}
