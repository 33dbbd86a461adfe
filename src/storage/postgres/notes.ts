import { makeSnippet } from '../../words/snippet.ts';
import { nothing, plainQuery, type WordQuery } from '../../words/word-query.ts';
import {
  type ListedNote,
  type Note,
  type NoteListRequest,
  type NotePage,
  type NoteStore,
  newNote,
} from '../contracts/notes.ts';
import { type Connections, numberOf, type Row, type Statements, textOf, textsOf } from './connections.ts';
import { createWordIndex } from './word-index.ts';

/** A note may have 50,000 characters, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

const tagFilter = '($1::text[] IS NULL OR o.tags @> $1::text[])';

export function createNoteStore(connections: Connections, now: () => Date): NoteStore {
  const words = createWordIndex({ name: 'note', owner: 'notes', poolMax, totalMax });
  return {
    save(fresh) {
      const note = newNote(fresh, now());
      return connections.write(async (statements) => {
        const [row = {}] = await statements.query(
          `INSERT INTO carrel.notes (id, title, content, tags, source_urls, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING key`,
          [note.id, note.title, note.content, note.tags, note.sourceUrls, note.createdAt, note.updatedAt],
        );
        const heading = [...new Set(note.tags)].join('\n');
        const key = numberOf(row, 'key');
        await words.write(statements, [{ key, title: note.title, heading, body: note.content }]);
        return note;
      });
    },
    get: (id, options) =>
      connections.read(async (statements) => {
        const [row] = await statements.query('SELECT * FROM carrel.notes WHERE id = $1', [id.replaceAll('\0', '')]);
        return row === undefined ? undefined : noteOf(row);
      }, options),
    list: (request, options) =>
      connections.read((statements) => {
        const tags = request.tags?.length ? request.tags : null;
        return request.query === undefined
          ? newest(statements, tags, request)
          : found(statements, plainQuery(request.query), tags, request);
      }, options),
  };

  async function found(
    statements: Statements,
    query: WordQuery,
    tags: readonly string[] | null,
    request: NoteListRequest,
  ): Promise<NotePage> {
    const page = await words.find(statements, query, { sql: tagFilter, values: [tags] }, request);
    const keys = page.found.map(({ key }) => key);
    const rows = await statements.query('SELECT * FROM carrel.notes WHERE key = ANY ($1)', [keys]);
    const byKey = new Map(rows.map((row) => [numberOf(row, 'key'), row]));
    return { notes: keys.flatMap((key) => listed(byKey.get(key), query)), total: page.total };
  }
}

async function newest(
  statements: Statements,
  tags: readonly string[] | null,
  { limit, offset }: NoteListRequest,
): Promise<NotePage> {
  const rows = await statements.query(
    `SELECT * FROM carrel.notes o WHERE ${tagFilter} ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
    [tags, limit, offset],
  );
  const [row = {}] = await statements.query(`SELECT count(*) AS total FROM carrel.notes o WHERE ${tagFilter}`, [tags]);
  return { notes: rows.flatMap((found) => listed(found, nothing)), total: numberOf(row, 'total') };
}

function listed(row: Row | undefined, query: WordQuery): ListedNote[] {
  if (row === undefined) return [];
  const { id, title, tags, createdAt, updatedAt, content } = noteOf(row);
  return [{ id, title, tags, createdAt, updatedAt, snippet: makeSnippet(content, query) }];
}

function noteOf(row: Row): Note {
  return {
    id: textOf(row, 'id'),
    title: textOf(row, 'title'),
    content: textOf(row, 'content'),
    tags: textsOf(row, 'tags'),
    sourceUrls: textsOf(row, 'source_urls'),
    createdAt: textOf(row, 'created_at'),
    updatedAt: textOf(row, 'updated_at'),
  };
}
