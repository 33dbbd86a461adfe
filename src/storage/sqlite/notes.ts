import { makeSnippet } from '../../words/snippet.ts';
import { nothing, plainQuery, type WordQuery } from '../../words/word-query.ts';
import type { ListedNote, Note, NoteListRequest, NotePage } from '../contracts/notes.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import type { KeyFilter } from './row-filter.ts';
import { createWordIndex } from './word-index.ts';

/** Notes in SQLite, on the thread that has the connection. */
export interface NoteTable {
  insert(note: Note): Note;
  get(id: string): Note | undefined;
  list(request: NoteListRequest): NotePage;
}

/** A note may have 50,000 characters, and each of the pool is read. */
const poolMax = 200;

const totalMax = 1_000_000;

export function createNoteTable(database: Database): NoteTable {
  const words = createWordIndex(database, { name: 'note', owner: 'notes', poolMax, totalMax });
  return {
    insert(note) {
      const tags = [...new Set(note.tags)];
      return database.transaction(() => {
        const key = database.run(
          `INSERT INTO notes (id, title, content, tags, source_urls, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          ...[note.id, note.title, note.content, JSON.stringify(note.tags), JSON.stringify(note.sourceUrls)],
          ...[note.createdAt, note.updatedAt],
        );
        for (const tag of tags) database.run('INSERT INTO note_tags (tag, note) VALUES (?, ?)', tag, key);
        words.write([{ key, title: note.title, heading: tags.join('\n'), body: note.content }]);
        return note;
      });
    },
    get(id) {
      const row = database.get('SELECT * FROM notes WHERE id = ?', id);
      return row === undefined ? undefined : noteOf(row);
    },
    list(request) {
      const filter = tagFilter(request.tags ?? []);
      if (request.query === undefined) return newest(filter, request);
      const query = plainQuery(request.query);
      const { found, total } = words.find(query, filter, request);
      const keys = found.map(({ key }) => key);
      const rows = new Map(
        database
          .all('SELECT * FROM notes WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
          .map((row) => [numberOf(row, 'key'), row]),
      );
      return { notes: keys.flatMap((key) => listed(rows.get(key), query)), total };
    },
  };

  function newest(filter: KeyFilter, { limit, offset }: NoteListRequest): NotePage {
    const where = filter.sql === undefined ? '' : `WHERE key IN (${filter.sql})`;
    const rows = database.all(
      `SELECT * FROM notes ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`,
      ...[...filter.values, limit, offset],
    );
    const total = numberOf(
      database.get(`SELECT count(*) AS total FROM notes ${where}`, ...filter.values) ?? {},
      'total',
    );
    return { notes: rows.flatMap((row) => listed(row, nothing)), total };
  }
}

function tagFilter(tags: readonly string[]): KeyFilter {
  if (tags.length === 0) return { sql: undefined, values: [] };
  const unique = [...new Set(tags)];
  return {
    sql: `SELECT note AS key FROM note_tags WHERE tag IN (SELECT value FROM json_each(?)) GROUP BY note HAVING count(*) = ?`,
    values: [JSON.stringify(unique), unique.length],
  };
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
    tags: JSON.parse(textOf(row, 'tags')),
    sourceUrls: JSON.parse(textOf(row, 'source_urls')),
    createdAt: textOf(row, 'created_at'),
    updatedAt: textOf(row, 'updated_at'),
  };
}
