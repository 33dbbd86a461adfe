interface VectorSchema {
  readonly corpus: string;
  /** The table of the owners. */
  readonly owners: string;
  /** Owners whose texts are searched, as a condition on a row. */
  readonly isLive: (row: string) => string;
  /** The columns that the vectors are made from, or that tell whether the row is live. */
  readonly columns: readonly string[];
  /** A new owner is listed by a trigger. Passages come in thousands, and are listed by the write itself, all at once. */
  readonly isListed: boolean;
}

const context: VectorSchema = {
  corpus: 'context',
  owners: 'context_entries',
  isLive: (row) => `${row}.deleted_at IS NULL`,
  columns: ['text_hash', 'deleted_at'],
  isListed: true,
};

const kb: VectorSchema = {
  corpus: 'kb',
  owners: 'kb_passages',
  isLive: () => 'TRUE',
  columns: ['title', 'headings', 'body'],
  isListed: false,
};

/** Vectors of several models for entries and passages, and the list of texts that wait for theirs. */
export function vectorSchema(): string {
  return vectorTables(context) + vectorTables(kb);
}

/**
 * A model without a name is being dropped. Triggers keep the list of what waits, so that no write can forget it, and the
 * list of removals, from which indexes in memory learn what is gone.
 *
 * An image in memory is loaded from blocks of vectors as bytes. What is removed takes its block with it: the other vectors
 * of the block are read one by one until they are packed again.
 */
function vectorTables({ corpus, owners, isLive, columns, isListed }: VectorSchema): string {
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
    claimed_by TEXT,
    claimed_until INTEGER,
    PRIMARY KEY (model, owner),
    CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
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
${
  isListed
    ? `  CREATE TRIGGER ${corpus}_text_added AFTER INSERT ON ${owners} BEGIN
    ${enlist};
  END;`
    : ''
}
  CREATE TRIGGER ${corpus}_text_changed AFTER UPDATE OF ${columns.join(', ')} ON ${owners}
    WHEN ${columns.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')} BEGIN
    DELETE FROM ${corpus}_vectors WHERE owner = new.key;
    DELETE FROM ${corpus}_unembedded WHERE owner = new.key;
    ${enlist};
  END;

  CREATE TABLE ${corpus}_vector_blocks (
    model INTEGER NOT NULL REFERENCES ${corpus}_models (key) ON DELETE CASCADE,
    last_key INTEGER NOT NULL,
    first_key INTEGER NOT NULL,
    keys BLOB NOT NULL,
    owners BLOB NOT NULL,
    scales BLOB NOT NULL,
    codes BLOB NOT NULL,
    PRIMARY KEY (model, last_key)
  ) STRICT;
  CREATE TRIGGER ${corpus}_vector_block_broken AFTER DELETE ON ${corpus}_vectors BEGIN
    DELETE FROM ${corpus}_vector_blocks WHERE model = old.model AND first_key <= old.key AND last_key = (
      SELECT min(b.last_key) FROM ${corpus}_vector_blocks b WHERE b.model = old.model AND b.last_key >= old.key);
  END;
  `;
}
