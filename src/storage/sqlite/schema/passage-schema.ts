import { wordIndexSchema } from './word-index-schema.ts';

/**
 * The passages of documents. Their labels have no index by key and no foreign key: a passage names its labels itself, so
 * they are found by them when it is removed, and writing them takes half the time.
 */
export function passageSchema(): string {
  return `
  CREATE TABLE kb_passages (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    title TEXT NOT NULL,
    headings TEXT NOT NULL CHECK (json_type(headings) = 'array'),
    body TEXT NOT NULL,
    labels TEXT NOT NULL CHECK (json_type(labels) = 'array')
  ) STRICT;
  CREATE INDEX kb_passages_parent ON kb_passages (parent, position);

  CREATE TABLE kb_passage_labels (
    label TEXT NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (label, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER kb_passage_labels_removed AFTER DELETE ON kb_passages BEGIN
    DELETE FROM kb_passage_labels WHERE label IN (SELECT value FROM json_each(old.labels)) AND key = old.key;
  END;

  ${wordIndexSchema('kb_passage', 'kb_passages', 16)}
  `;
}
