import { documentSchema } from './document-schema.ts';
import { entryHistorySchema } from './entry-history-schema.ts';
import { entrySchema } from './entry-schema.ts';
import { passageSchema } from './passage-schema.ts';
import { vectorSchema } from './vector-schema.ts';
import { wordIndexSchema } from './word-index-schema.ts';

/**
 * What brings a database from schema n to schema n + 1, at index n; the numbers are those of SQLite's steps. Released
 * steps are never changed. Identifiers are compared byte by byte (COLLATE "C"), as SQLite does.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE carrel.notes (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 36),
    title text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    content text NOT NULL CHECK (length(content) BETWEEN 1 AND 50000),
    tags text[] COLLATE "C" NOT NULL CHECK (cardinality(tags) <= 10),
    source_urls text[] NOT NULL CHECK (cardinality(source_urls) <= 20),
    created_at text COLLATE "C" NOT NULL CHECK (length(created_at) = 24),
    updated_at text COLLATE "C" NOT NULL CHECK (length(updated_at) = 24)
  );
  CREATE INDEX notes_newest ON carrel.notes (created_at DESC, id);
  CREATE INDEX notes_tags ON carrel.notes USING gin (tags);

  ${wordIndexSchema('note', 'notes')}
  `,
  ['context', 'kb', 'notes'].map(passageSchema).join(''),
  entrySchema(),
  vectorSchema(),
  documentSchema(),
  entryHistorySchema(),
  // SQLite's seventh step concerns FTS5 alone.
  'SELECT 1',
  // By which analysis and in which language all terms were made; see word-analysis.ts.
  'CREATE TABLE carrel.word_analysis (stamp text NOT NULL)',
  // SQLite packs vectors here; PostgreSQL has its index.
  'SELECT 1',
  // SQLite's tenth step makes its writes faster.
  'SELECT 1',
];
