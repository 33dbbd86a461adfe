const columns = 'body, body_extra, title, title_extra, heading, heading_extra';

/**
 * The tables of one word index: the analysed terms of each document, the FTS5 index over them, their sums, and every word that
 * was ever in a document, for misspelt ones to be compared with. A trigger keeps the first three in step when something is
 * removed. Whoever adds writes to all: a statement with a trigger begins
 * with a savepoint, and at each savepoint FTS5 writes out the terms that it has gathered, as one segment for each document.
 *
 * The body is the first column: FTS5 writes no number for the first one, and nearly all terms are of a body. The tokenizer
 * only has to part at spaces again what the analysis has joined; everything but ASCII punctuation is a token character to
 * it, and the three signs that occur inside terms are named.
 *
 * Terms are gathered up to `hashsize` bytes, which is about what a transaction of 1,000 passages has. Segments of one level
 * are merged when there are `segments`, in small parts with each write; only where three times as many have gathered does a
 * write wait for all of it. More segments are for what comes in thousands: a search opens them all.
 */
export function wordIndexSchema(name: string, owner: string, segments: number): string {
  return `
  CREATE TABLE ${name}_terms (
    key INTEGER PRIMARY KEY REFERENCES ${owner} (key) ON DELETE CASCADE,
    title TEXT NOT NULL,
    title_extra TEXT NOT NULL,
    heading TEXT NOT NULL,
    heading_extra TEXT NOT NULL,
    body TEXT NOT NULL,
    body_extra TEXT NOT NULL,
    title_length INTEGER NOT NULL,
    heading_length INTEGER NOT NULL,
    body_length INTEGER NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE ${name}_words USING fts5 (
    ${columns},
    content = '${name}_terms', content_rowid = 'key', tokenize = "ascii tokenchars '.+#'"
  );
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('hashsize', 8388608);
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('automerge', ${segments});
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('crisismerge', ${3 * segments});

  CREATE TABLE ${name}_vocabulary (place INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE ${name}_statistics (
    documents INTEGER NOT NULL,
    title_length INTEGER NOT NULL,
    heading_length INTEGER NOT NULL,
    body_length INTEGER NOT NULL
  ) STRICT;
  INSERT INTO ${name}_statistics VALUES (0, 0, 0, 0);

  CREATE TRIGGER ${name}_terms_removed AFTER DELETE ON ${name}_terms BEGIN
    INSERT INTO ${name}_words (${name}_words, rowid, ${columns})
      VALUES ('delete', old.key, ${columns.replaceAll(/\b(?=\w)/g, 'old.')});
    UPDATE ${name}_statistics SET documents = documents - 1,
      title_length = title_length - old.title_length,
      heading_length = heading_length - old.heading_length,
      body_length = body_length - old.body_length;
  END;
  `;
}
