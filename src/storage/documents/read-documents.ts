import type { Statements } from '../dialect.ts';
import { type ListValue, numberOf, optionalTextOf, type Row, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import type {
  ChunksRequest,
  DocumentCounts,
  DocumentListRequest,
  DocumentSort,
  LocatedChunk,
  LocateRequest,
  PendingChunks,
  PendingRequest,
  StoredChunk,
  StoredDocument,
  StoredDocumentPage,
  TagOverview,
  TagOverviewRequest,
  TagsListRequest,
  TagUse,
  TypeUse,
  UsedTags,
} from './document.ts';
import { documentColumns, documentsById, documentsOf } from './document-rows.ts';
import type { Scope } from './ingestion.ts';
import { collectionRange, otherRanges, parentOf, selectionCondition, taggedWithAny } from './selection.ts';

export async function getDocument(on: Statements, { id }: { id: number }): Promise<StoredDocument | undefined> {
  const [document] = await documentsById(on, [id]);
  return document;
}

const sortColumns: Record<DocumentSort['by'], string> = {
  changed: 'coalesce(o.updated_at, o.created_at)',
  added: 'o.created_at',
  title: 'lower(o.title)',
  type: 'o.doc_type',
  chunks: 'o.chunk_count',
};

export async function listDocuments(
  on: Statements,
  { selection, sort = { by: 'changed', descending: true }, limit, offset }: DocumentListRequest,
): Promise<StoredDocumentPage> {
  const direction = sort.descending ? 'DESC' : 'ASC';
  const { sql, values } = selectionCondition(selection, on.dialect);
  const rows = await on.query(
    `SELECT ${documentColumns} FROM ${on.dialect.schema}kb_documents o WHERE ${sql}
      ORDER BY ${sortColumns[sort.by]} ${direction}, o.key ${direction} LIMIT ? OFFSET ?`,
    [...values, limit, offset],
  );
  const [count = {}] = await on.query(
    `SELECT count(*) AS total FROM ${on.dialect.schema}kb_documents o WHERE ${sql}`,
    values,
  );
  return { documents: await documentsOf(on, rows), total: numberOf(count, 'total') };
}

/** Chunks read at a time, to avoid reading more than needed. */
const chunksAtOnce = 500;

/** Chunks of a document, in order. */
export async function documentChunks(
  on: Statements,
  { document, from = 0, limit = Number.POSITIVE_INFINITY, charsMax = Number.POSITIVE_INFINITY }: ChunksRequest,
): Promise<StoredChunk[]> {
  const found: StoredChunk[] = [];
  let chars = 0;
  for (let first = from; found.length < limit; ) {
    const wanted = Math.min(chunksAtOnce, limit - found.length);
    const rows = await on.query(
      `${selectChunks(on)} WHERE p.parent = ? AND p.position >= ? ORDER BY p.position LIMIT ?`,
      [parentOf(document), first, wanted],
    );
    for (const chunk of rows.map(chunkOf)) {
      chars += chunk.text.length;
      if (chars > charsMax && found.length > 0) return found;
      found.push(chunk);
      first = chunk.position + 1;
    }
    if (rows.length < wanted) break;
  }
  return found;
}

function selectChunks({ dialect: { schema } }: Statements): string {
  return `SELECT p.key, p.parent, p.position, p.body, p.metadata FROM ${schema}kb_passages p`;
}

/** Chunks of these documents without vectors of the model. Documents without such chunks are omitted. */
export async function pendingChunks(on: Statements, request: PendingRequest): Promise<PendingChunks[]> {
  const { schema, texts } = on.dialect;
  const [among, list] =
    'documents' in request
      ? [`p.parent IN (${texts})`, request.documents.map(parentOf)]
      : [`CAST(p.parent AS bigint) IN (${taggedWithAny(on.dialect)})`, request.anyTags.map(storable)];
  const rows = await on.query(
    `SELECT p.parent, count(*) AS chunks FROM ${schema}kb_passages p WHERE ${among} AND EXISTS (
       SELECT 1 FROM ${schema}kb_unembedded u JOIN ${schema}vector_models m ON m.key = u.model
       WHERE u.owner = p.key AND m.name = ?) GROUP BY p.parent`,
    [{ list }, request.model],
  );
  return rows.map((row) => ({ document: Number(textOf(row, 'parent')), chunks: numberOf(row, 'chunks') }));
}

/** The chunks with these passage keys, in that order, each with its document. Unknown keys are omitted. */
export async function locatedChunks(on: Statements, { keys, neighbours }: LocateRequest): Promise<LocatedChunk[]> {
  const rows = await on.query(`${selectChunks(on)} WHERE p.key IN (${on.dialect.integers})`, [{ list: keys }]);
  const ids = [...new Set(rows.map((row) => Number(textOf(row, 'parent'))))];
  const owners = new Map((await documentsById(on, ids)).map((document) => [document.id, document]));
  const found = new Map<number, LocatedChunk>();
  for (const row of rows) {
    const document = owners.get(Number(textOf(row, 'parent')));
    if (document === undefined) continue;
    const chunk = chunkOf(row);
    const around = neighbours > 0 ? await neighboursOf(on, document.id, chunk.position, neighbours) : [];
    found.set(chunk.key, { ...chunk, document, neighbours: around });
  }
  return keys.flatMap((key) => found.get(key) ?? []);
}

/** The text of a note. */
export async function documentNote(on: Statements, { id }: { id: number }): Promise<string | undefined> {
  const [row] = await on.query(`SELECT note FROM ${on.dialect.schema}kb_documents WHERE key = ?`, [id]);
  return row && optionalTextOf(row, 'note');
}

/** How many documents have each type, the most common first. */
export async function documentTypes(on: Statements, { anyTags }: Scope): Promise<TypeUse[]> {
  const { sql, values } = selectionCondition({ anyTags }, on.dialect);
  const rows = await on.query(
    `SELECT o.doc_type, count(*) AS total FROM ${on.dialect.schema}kb_documents o WHERE ${sql}
      GROUP BY o.doc_type ORDER BY count(*) DESC, o.doc_type LIMIT ${typesMax}`,
    values,
  );
  return rows.map((row) => ({ type: textOf(row, 'doc_type'), count: numberOf(row, 'total') }));
}

/** Max types returned. Types are free text, and nobody chooses among more. */
const typesMax = 100;

/** How many documents have each tag, by tag. */
export async function documentTags(on: Statements, { anyTags, after, limit }: TagsListRequest): Promise<TagUse[]> {
  const among = anyTags && {
    sql: `document IN (${taggedWithAny(on.dialect)})`,
    value: { list: anyTags.map(storable) },
  };
  const behind = after === undefined ? undefined : { sql: 'tag > ?', value: storable(after) };
  const conditions = [among, behind].filter((condition) => condition !== undefined);
  const rows = await on.query(
    `SELECT tag, count(*) AS total FROM ${on.dialect.schema}kb_document_tags
      ${conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`}
      GROUP BY tag ORDER BY tag ${limit === undefined ? '' : 'LIMIT ?'}`,
    [...conditions.map(({ value }) => value), ...(limit === undefined ? [] : [limit])],
  );
  return rows.map(tagUseOf);
}

/** Collections and other tags separately, most documents first, then by tag. */
export async function tagOverview(
  on: Statements,
  { anyTags, collections, others }: TagOverviewRequest,
): Promise<TagOverview> {
  const { texts } = on.dialect;
  const given = anyTags && { list: anyTags.map(storable) };
  const own = given && { sql: `tag IN (${texts})`, value: given };
  const among = given && { sql: `document IN (${taggedWithAny(on.dialect)})`, value: given };
  return {
    collections: await mostUsed(on, [collectionRange], own, collections),
    others: await mostUsed(on, otherRanges, among, others),
  };
}

async function mostUsed(
  on: Statements,
  ranges: readonly string[],
  among: { readonly sql: string; readonly value: ListValue } | undefined,
  limit: number,
): Promise<UsedTags> {
  if (limit === 0) return { tags: [], total: 0 };
  const used = ranges.map(
    (range) => `SELECT tag, count(*) AS total FROM ${on.dialect.schema}kb_document_tags
      WHERE ${range} ${among ? `AND ${among.sql}` : ''} GROUP BY tag`,
  );
  const rows = await on.query(
    `WITH used AS (${used.join(' UNION ALL ')})
      SELECT tag, total, (SELECT count(*) FROM used) AS kinds FROM used ORDER BY total DESC, tag LIMIT ?`,
    [...(among ? ranges.map(() => among.value) : []), limit],
  );
  const [first] = rows;
  return { tags: rows.map(tagUseOf), total: first === undefined ? 0 : numberOf(first, 'kinds') };
}

function tagUseOf(row: Row): TagUse {
  return { tag: textOf(row, 'tag'), count: numberOf(row, 'total') };
}

export async function countDocuments(on: Statements, { anyTags }: Scope): Promise<DocumentCounts> {
  const list = anyTags && [{ list: anyTags.map(storable) }];
  const [sums = {}] = await on.query(
    `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks, coalesce(sum(bytes), 0) AS bytes FROM ${on.dialect.schema}kb_documents
      ${list ? `WHERE key IN (${taggedWithAny(on.dialect)})` : ''}`,
    list,
  );
  const [distinct = {}] = await on.query(
    `SELECT count(DISTINCT tag) AS total FROM ${on.dialect.schema}kb_document_tags
      WHERE ${collectionRange} ${list ? `AND tag IN (${on.dialect.texts})` : ''}`,
    list,
  );
  return {
    documents: numberOf(sums, 'documents'),
    chunks: numberOf(sums, 'chunks'),
    bytes: numberOf(sums, 'bytes'),
    collections: numberOf(distinct, 'total'),
  };
}

async function neighboursOf(
  on: Statements,
  id: number,
  position: number,
  count: number,
): Promise<LocatedChunk['neighbours']> {
  const rows = await on.query(
    `SELECT position, body FROM ${on.dialect.schema}kb_passages WHERE parent = ? AND position BETWEEN ? AND ?
      AND position <> ? ORDER BY position`,
    [parentOf(id), position - count, position + count, position],
  );
  return rows.map((row) => ({ position: numberOf(row, 'position'), text: textOf(row, 'body') }));
}

function chunkOf(row: Row): StoredChunk {
  return {
    key: numberOf(row, 'key'),
    position: numberOf(row, 'position'),
    text: textOf(row, 'body'),
    metadata: JSON.parse(textOf(row, 'metadata')),
  };
}
