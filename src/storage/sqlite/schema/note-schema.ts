import { wordIndexSchema } from './word-index-schema.ts';

/** Research notes. */
export function noteSchema(): string {
  return `
  CREATE TABLE notes (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
    title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    content TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 50000),
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array' AND json_array_length(tags) <= 10),
    source_urls TEXT NOT NULL CHECK (json_type(source_urls) = 'array' AND json_array_length(source_urls) <= 20),
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    updated_at TEXT NOT NULL CHECK (length(updated_at) = 24),
    deleted_at TEXT CHECK (length(deleted_at) = 24)
  ) STRICT;
  CREATE INDEX notes_newest ON notes (created_at DESC, id) WHERE deleted_at IS NULL;
  CREATE INDEX notes_removed ON notes (deleted_at) WHERE deleted_at IS NOT NULL;

  CREATE TABLE note_tags (
    tag TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    PRIMARY KEY (tag, note)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX note_tags_note ON note_tags (note);

  ${wordIndexSchema('note', 'notes', 8)}
  `;
}
