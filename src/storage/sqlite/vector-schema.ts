/** The tables of the vectors of one corpus. Part of released migrations: never to be changed. */
interface VectorSchema {
  readonly corpus: string;
  /** The table of the owners. */
  readonly owners: string;
  /** Owners whose texts are searched, as a condition on a row. */
  readonly isLive: (row: string) => string;
  /** The columns that the vectors are made from, or that tell whether the row is live. */
  readonly columns: readonly string[];
}

const context: VectorSchema = {
  corpus: 'context',
  owners: 'context_entries',
  isLive: (row) => `${row}.deleted_at IS NULL`,
  columns: ['text_hash', 'deleted_at'],
};

const kb: VectorSchema = {
  corpus: 'kb',
  owners: 'kb_passages',
  isLive: () => 'TRUE',
  columns: ['title', 'headings', 'body'],
};

/** Vectors of several models for entries and passages. Those that entries had, of one model each, are kept. */
export function vectorSchema(): string {
  return `
  DROP INDEX context_vectors_entry;
  DROP INDEX context_vectors_model;
  ALTER TABLE context_vectors RENAME TO context_vectors_before;
  ${vectorTables(context)}
  ${vectorTables(kb)}

  INSERT INTO context_models (name, dimensions, chosen)
    SELECT model, max(length(vector)) / 4, row_number() OVER (ORDER BY max(key))
    FROM context_vectors_before GROUP BY model ORDER BY max(key);
  INSERT INTO context_vectors (key, owner, model, start_at, end_at, vector)
    SELECT v.key, v.entry, m.key, v.start_at, v.end_at, v.vector
    FROM context_vectors_before v JOIN context_models m ON m.name = v.model ORDER BY v.key;
  INSERT INTO context_unembedded (model, owner)
    SELECT m.key, o.key FROM context_models m CROSS JOIN context_entries o
    LEFT JOIN context_embeddings e ON e.entry = o.key AND e.model = m.name
    WHERE o.deleted_at IS NULL AND e.entry IS NULL;
  DROP TABLE context_vectors_before;
  DROP TABLE context_embeddings;
  `;
}

/**
 * A model without a name is being dropped. Triggers keep the list of what waits, so that no write can forget it, and the
 * list of removals, from which indexes in memory learn what is gone.
 */
function vectorTables({ corpus, owners, isLive, columns }: VectorSchema): string {
  const owner = `owner INTEGER NOT NULL REFERENCES ${owners} (key) ON DELETE CASCADE`;
  const enlist = `INSERT INTO ${corpus}_unembedded (model, owner)
      SELECT m.key, new.key FROM ${corpus}_models m WHERE m.name IS NOT NULL AND ${isLive('new')}`;
  return `
  CREATE TABLE ${corpus}_models (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE,
    dimensions INTEGER CHECK (dimensions > 0),
    chosen INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE ${corpus}_unembedded (
    model INTEGER NOT NULL REFERENCES ${corpus}_models (key) ON DELETE CASCADE,
    ${owner},
    PRIMARY KEY (model, owner)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ${corpus}_unembedded_owner ON ${corpus}_unembedded (owner);

  CREATE TABLE ${corpus}_vectors (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    ${owner},
    model INTEGER NOT NULL REFERENCES ${corpus}_models (key),
    start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    vector BLOB NOT NULL
  ) STRICT;
  CREATE INDEX ${corpus}_vectors_owner ON ${corpus}_vectors (owner, model);
  CREATE INDEX ${corpus}_vectors_model ON ${corpus}_vectors (model, key);

  CREATE TABLE ${corpus}_vector_removals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    vector INTEGER NOT NULL
  ) STRICT;

  CREATE TRIGGER ${corpus}_vector_removed AFTER DELETE ON ${corpus}_vectors
    WHEN (SELECT name FROM ${corpus}_models WHERE key = old.model) IS NOT NULL BEGIN
    INSERT INTO ${corpus}_vector_removals (vector) VALUES (old.key);
  END;
  CREATE TRIGGER ${corpus}_text_added AFTER INSERT ON ${owners} BEGIN
    ${enlist};
  END;
  CREATE TRIGGER ${corpus}_text_changed AFTER UPDATE OF ${columns.join(', ')} ON ${owners}
    WHEN ${columns.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')} BEGIN
    DELETE FROM ${corpus}_vectors WHERE owner = new.key;
    DELETE FROM ${corpus}_unembedded WHERE owner = new.key;
    ${enlist};
  END;
  `;
}
