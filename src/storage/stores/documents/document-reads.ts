import type {
  DocumentCounts,
  DocumentListRequest,
  LocatedChunk,
  LocateRequest,
  StoredChunk,
  StoredDocument,
  StoredDocumentPage,
  TagUse,
} from '../../contracts/documents.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../statements.ts';
import { query } from '../entries/work.ts';
import { documentsOf } from './document-rows.ts';
import { type DocumentDialect, type DocumentWork, parentOf, tablesOf } from './document-work.ts';
import { selectionCondition } from './selection.ts';

export interface DocumentReads {
  document(request: { id: number }): DocumentWork<StoredDocument | undefined>;
  documents(request: DocumentListRequest): DocumentWork<StoredDocumentPage>;
  chunks(request: { document: number }): DocumentWork<StoredChunk[]>;
  located(request: LocateRequest): DocumentWork<LocatedChunk[]>;
  note(request: { id: number }): DocumentWork<string | undefined>;
  tags(): DocumentWork<TagUse[]>;
  documentCounts(): DocumentWork<DocumentCounts>;
}

export function createDocumentReads(dialect: DocumentDialect): DocumentReads {
  const { documents, tags, notes, chunks, passages } = tablesOf(dialect);
  const selectChunks = `SELECT p.key, p.parent, p.position, p.body, c.metadata FROM ${passages} p
    LEFT JOIN ${chunks} c ON c.document = CAST(p.parent AS bigint) AND c.position = p.position`;
  return {
    *document({ id }) {
      const [document] = yield* byIds([id]);
      return document;
    },
    *documents({ selection, limit, offset }) {
      const { sql, values } = selectionCondition(selection, dialect);
      const rows = yield* query(
        `SELECT o.* FROM ${documents} o WHERE ${sql}
         ORDER BY coalesce(o.updated_at, o.created_at) DESC, o.key DESC LIMIT ? OFFSET ?`,
        ...[...values, limit, offset],
      );
      const [count = {}] = yield* query(`SELECT count(*) AS total FROM ${documents} o WHERE ${sql}`, ...values);
      return { documents: yield* documentsOf(rows, dialect), total: numberOf(count, 'total') };
    },
    *chunks({ document }) {
      const rows = yield* query(`${selectChunks} WHERE p.parent = ? ORDER BY p.position`, parentOf(document));
      return rows.map(chunkOf);
    },
    *located({ keys, neighbours }) {
      const rows = yield* query(`${selectChunks} WHERE p.key IN (${dialect.integers})`, { list: keys });
      const ids = [...new Set(rows.map((row) => Number(textOf(row, 'parent'))))];
      const owners = new Map((yield* byIds(ids)).map((document) => [document.id, document]));
      const found = new Map<number, LocatedChunk>();
      for (const row of rows) {
        const document = owners.get(Number(textOf(row, 'parent')));
        if (document === undefined) continue;
        const chunk = chunkOf(row);
        const around = neighbours > 0 ? yield* neighboursOf(document.id, chunk.position, neighbours) : [];
        found.set(chunk.key, { ...chunk, document, neighbours: around });
      }
      return keys.flatMap((key) => found.get(key) ?? []);
    },
    *note({ id }) {
      const [row] = yield* query(`SELECT text FROM ${notes} WHERE document = ?`, id);
      return row === undefined ? undefined : textOf(row, 'text');
    },
    *tags() {
      const rows = yield* query(`SELECT tag, count(*) AS total FROM ${tags} GROUP BY tag ORDER BY tag`);
      return rows.map((row) => ({ tag: textOf(row, 'tag'), count: numberOf(row, 'total') }));
    },
    *documentCounts() {
      const [sums = {}] = yield* query(
        `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks FROM ${documents}`,
      );
      const [distinct = {}] = yield* query(
        `SELECT count(DISTINCT tag) AS total FROM ${tags} WHERE substr(tag, 1, 11) = 'collection:'`,
      );
      return {
        documents: numberOf(sums, 'documents'),
        chunks: numberOf(sums, 'chunks'),
        collections: numberOf(distinct, 'total'),
      };
    },
  };

  function* byIds(ids: readonly number[]): DocumentWork<StoredDocument[]> {
    const rows = yield* query(`SELECT * FROM ${documents} WHERE key IN (${dialect.integers})`, { list: ids });
    return yield* documentsOf(rows, dialect);
  }

  function* neighboursOf(id: number, position: number, count: number): DocumentWork<LocatedChunk['neighbours']> {
    const rows = yield* query(
      `SELECT position, body FROM ${passages} WHERE parent = ? AND position BETWEEN ? AND ? AND position <> ? ORDER BY position`,
      ...[parentOf(id), position - count, position + count, position],
    );
    return rows.map((row) => ({ position: numberOf(row, 'position'), text: textOf(row, 'body') }));
  }
}

function chunkOf(row: Row): StoredChunk {
  return {
    key: numberOf(row, 'key'),
    position: numberOf(row, 'position'),
    text: textOf(row, 'body'),
    metadata: JSON.parse(optionalTextOf(row, 'metadata') ?? '{}'),
  };
}
