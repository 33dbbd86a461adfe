/**
 * The tables of one word index: the analysed terms of each document, and the set of them as a tsvector for the index to
 * find them by. Phrases are matched in the terms themselves, because a tsvector keeps no position beyond 16,383.
 * Part of released migrations: never to be changed.
 */
export function wordIndexSchema(name: string, owner: string): string {
  return `
  CREATE TABLE carrel.${name}_terms (
    key bigint PRIMARY KEY REFERENCES carrel.${owner} (key) ON DELETE CASCADE,
    title text NOT NULL,
    title_extra text NOT NULL,
    heading text NOT NULL,
    heading_extra text NOT NULL,
    body text NOT NULL,
    body_extra text NOT NULL,
    title_length integer NOT NULL,
    heading_length integer NOT NULL,
    body_length integer NOT NULL,
    words tsvector NOT NULL
  );
  CREATE INDEX ${name}_words ON carrel.${name}_terms USING gin (words);
  `;
}
