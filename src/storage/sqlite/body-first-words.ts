/**
 * The FTS5 index of one kind of document, with the body as its first column: FTS5 writes no number for the first column,
 * and nearly all terms are of a body. The index is a fifth smaller, so it is written and merged faster. Part of released
 * migrations: never to be changed.
 *
 * Segments of one level are merged when there are `segments`, in small parts with each write; only where three times as
 * many have gathered does a write wait for all of it.
 */
export function bodyFirstWords(name: string, segments: number): string {
  return `
  DROP TABLE ${name}_words;
  CREATE VIRTUAL TABLE ${name}_words USING fts5 (
    body, body_extra, title, title_extra, heading, heading_extra,
    content = '${name}_terms', content_rowid = 'key', tokenize = "ascii tokenchars '.+#'"
  );
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('hashsize', 8388608);
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('automerge', ${segments});
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('crisismerge', ${3 * segments});
  INSERT INTO ${name}_words (${name}_words) VALUES ('rebuild');
  `;
}
