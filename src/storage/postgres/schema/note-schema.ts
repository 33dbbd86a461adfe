import { wordIndexSchema } from './word-index-schema.ts';

/** Research notes. */
export function noteSchema(): string {
  return `
  CREATE TABLE carrel.notes (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 36),
    title text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    content text NOT NULL CHECK (length(content) BETWEEN 1 AND 50000),
    tags text[] COLLATE "C" NOT NULL CHECK (cardinality(tags) <= 10),
    source_urls text[] NOT NULL CHECK (cardinality(source_urls) <= 20),
    created_at text COLLATE "C" NOT NULL CHECK (length(created_at) = 24),
    updated_at text COLLATE "C" NOT NULL CHECK (length(updated_at) = 24),
    deleted_at text COLLATE "C" CHECK (length(deleted_at) = 24)
  );
  CREATE INDEX notes_newest ON carrel.notes (created_at DESC, id) WHERE deleted_at IS NULL;
  CREATE INDEX notes_removed ON carrel.notes (deleted_at) WHERE deleted_at IS NOT NULL;
  CREATE INDEX notes_tags ON carrel.notes USING gin (tags);

  ${wordIndexSchema('note', 'notes')}
  `;
}
