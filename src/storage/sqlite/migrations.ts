import { bodyFirstWords } from './body-first-words.ts';
import { directWordIndex } from './direct-word-index.ts';
import { documentSchema } from './document-schema.ts';
import { entryHistorySchema } from './entry-history-schema.ts';
import { entrySchema } from './entry-schema.ts';
import { leanLabels } from './lean-labels.ts';
import { passageSchema } from './passage-schema.ts';
import { vectorBlockSchema } from './vector-block-schema.ts';
import { vectorSchema } from './vector-schema.ts';
import { wordIndexSchema } from './word-index-schema.ts';

const wordIndexes = ['note', 'context_entry', 'context_passage', 'kb_passage', 'notes_passage'];

/**
 * What brings a database from schema n to schema n + 1, at index n. Released steps are never changed; a step that is
 * wrong is put right by a later one. After a change of the analysis (src/words) every `_terms`
 * table is written again; see rewrite-words.ts.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE notes (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
    title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    content TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 50000),
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array' AND json_array_length(tags) <= 10),
    source_urls TEXT NOT NULL CHECK (json_type(source_urls) = 'array' AND json_array_length(source_urls) <= 20),
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    updated_at TEXT NOT NULL CHECK (length(updated_at) = 24)
  ) STRICT;
  CREATE INDEX notes_newest ON notes (created_at DESC, id);

  CREATE TABLE note_tags (
    tag TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
    PRIMARY KEY (tag, note)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX note_tags_note ON note_tags (note);

  ${wordIndexSchema('note', 'notes')}
  `,
  ['context', 'kb', 'notes'].map(passageSchema).join(''),
  entrySchema(),
  vectorSchema(),
  documentSchema(),
  entryHistorySchema(),
  wordIndexes.map(directWordIndex).join(''),
  // By which analysis and in which language all terms were made; see word-analysis.ts.
  'CREATE TABLE word_analysis (stamp TEXT NOT NULL) STRICT',
  vectorBlockSchema(),
  fasterWrites(),
];

/**
 * Passages are listed for embedding by the write itself, all at once; see passages.ts. They come in thousands, entries and
 * notes one by one: more segments of theirs are left to a search, which then opens at most so many.
 */
function fasterWrites(): string {
  const words = wordIndexes.map((name) => bodyFirstWords(name, name.endsWith('_passage') ? 16 : 8));
  const labels = ['context', 'kb', 'notes'].map(leanLabels);
  return `DROP TRIGGER kb_text_added; ${words.join('')} ${labels.join('')}`;
}
