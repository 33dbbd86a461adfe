import { wordIndexSchema } from './word-index-schema.ts';

/** The tables of one corpus. Part of released migrations: never to be changed. */
export function passageSchema(corpus: string): string {
  return `
  CREATE TABLE ${corpus}_passages (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    title TEXT NOT NULL,
    headings TEXT NOT NULL CHECK (json_type(headings) = 'array'),
    body TEXT NOT NULL,
    labels TEXT NOT NULL CHECK (json_type(labels) = 'array')
  ) STRICT;
  CREATE INDEX ${corpus}_passages_parent ON ${corpus}_passages (parent, position);

  CREATE TABLE ${corpus}_passage_labels (
    label TEXT NOT NULL,
    key INTEGER NOT NULL REFERENCES ${corpus}_passages (key) ON DELETE CASCADE,
    PRIMARY KEY (label, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ${corpus}_passage_labels_key ON ${corpus}_passage_labels (key);

  ${wordIndexSchema(`${corpus}_passage`, `${corpus}_passages`)}
  `;
}
