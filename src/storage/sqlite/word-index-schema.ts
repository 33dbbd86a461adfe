/**
 * The tables of one word index: the analysed terms of each document, the FTS5 index over them, and their sums. Triggers
 * keep the three in step, so that no write can forget one. Part of released migrations: never to be changed.
 *
 * The tokenizer only has to part at spaces again what the analysis has joined; everything but ASCII punctuation is a
 * token character to it, and the three signs that occur inside terms are named.
 */
export function wordIndexSchema(name: string, owner: string): string {
  const columns = ['title', 'title_extra', 'heading', 'heading_extra', 'body', 'body_extra'];
  const values = (row: 'new' | 'old') => columns.map((column) => `${row}.${column}`).join(', ');
  const remove = `INSERT INTO ${name}_words (${name}_words, rowid, ${columns.join(', ')})
      VALUES ('delete', old.key, ${values('old')})`;
  const add = `INSERT INTO ${name}_words (rowid, ${columns.join(', ')}) VALUES (new.key, ${values('new')})`;
  const sum = (sign: '+' | '-', row: 'new' | 'old') => `UPDATE ${name}_statistics SET documents = documents ${sign} 1,
      title_length = title_length ${sign} ${row}.title_length,
      heading_length = heading_length ${sign} ${row}.heading_length,
      body_length = body_length ${sign} ${row}.body_length`;
  return `
  CREATE TABLE ${name}_terms (
    key INTEGER PRIMARY KEY REFERENCES ${owner} (key) ON DELETE CASCADE,
    ${columns.map((column) => `${column} TEXT NOT NULL,`).join('\n    ')}
    title_length INTEGER NOT NULL,
    heading_length INTEGER NOT NULL,
    body_length INTEGER NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE ${name}_words USING fts5 (
    ${columns.join(', ')},
    content = '${name}_terms', content_rowid = 'key', tokenize = "ascii tokenchars '.+#'"
  );

  CREATE TABLE ${name}_statistics (
    documents INTEGER NOT NULL,
    title_length INTEGER NOT NULL,
    heading_length INTEGER NOT NULL,
    body_length INTEGER NOT NULL
  ) STRICT;
  INSERT INTO ${name}_statistics VALUES (0, 0, 0, 0);

  CREATE TRIGGER ${name}_terms_added AFTER INSERT ON ${name}_terms BEGIN
    ${add};
    ${sum('+', 'new')};
  END;
  CREATE TRIGGER ${name}_terms_removed AFTER DELETE ON ${name}_terms BEGIN
    ${remove};
    ${sum('-', 'old')};
  END;
  CREATE TRIGGER ${name}_terms_changed AFTER UPDATE ON ${name}_terms BEGIN
    ${remove};
    ${sum('-', 'old')};
    ${add};
    ${sum('+', 'new')};
  END;
  `;
}
