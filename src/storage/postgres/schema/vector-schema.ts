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

/**
 * Vectors of several models for entries and passages, and the list of texts that wait for theirs. Stored are plain arrays,
 * which need no extension; an index of pgvector is made on an expression.
 */
export function vectorSchema(): string {
  return vectorTables(context) + vectorTables(kb);
}

/**
 * A model without a name is being dropped. Triggers keep the list of what waits, so that no write can forget it, and the
 * list of removals, from which indexes in memory learn what is gone.
 */
function vectorTables({ corpus, owners, isLive, columns }: VectorSchema): string {
  const owner = `owner bigint NOT NULL REFERENCES carrel.${owners} (key) ON DELETE CASCADE`;
  const enlist = `INSERT INTO carrel.${corpus}_unembedded (model, owner)
      SELECT m.key, f.key FROM fresh f CROSS JOIN carrel.${corpus}_models m WHERE m.name IS NOT NULL AND ${isLive('f')}
      ON CONFLICT DO NOTHING`;
  const changed = columns.map((column) => `o.${column} IS DISTINCT FROM f.${column}`).join(' OR ');
  const touched = `SELECT f.key FROM fresh f JOIN former o ON o.key = f.key WHERE ${changed}`;
  return `
  CREATE TABLE carrel.${corpus}_models (
    key integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE,
    dimensions integer CHECK (dimensions > 0),
    chosen bigint NOT NULL
  );

  CREATE TABLE carrel.${corpus}_unembedded (
    model integer NOT NULL REFERENCES carrel.${corpus}_models (key) ON DELETE CASCADE,
    ${owner},
    claimed_by text COLLATE "C",
    claimed_until bigint,
    PRIMARY KEY (model, owner),
    CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
  );
  CREATE INDEX ${corpus}_unembedded_owner ON carrel.${corpus}_unembedded (owner);

  CREATE TABLE carrel.${corpus}_vectors (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ${owner},
    model integer NOT NULL REFERENCES carrel.${corpus}_models (key),
    start_at integer NOT NULL,
    end_at integer NOT NULL,
    vector real[] NOT NULL
  );
  CREATE INDEX ${corpus}_vectors_owner ON carrel.${corpus}_vectors (owner, model);
  CREATE INDEX ${corpus}_vectors_model ON carrel.${corpus}_vectors (model, key);

  CREATE TABLE carrel.${corpus}_vector_removals (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vector bigint NOT NULL
  );

  CREATE FUNCTION carrel.${corpus}_vectors_removed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO carrel.${corpus}_vector_removals (vector)
      SELECT f.key FROM former f JOIN carrel.${corpus}_models m ON m.key = f.model WHERE m.name IS NOT NULL;
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${corpus}_vectors_removed AFTER DELETE ON carrel.${corpus}_vectors
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION carrel.${corpus}_vectors_removed();

  CREATE FUNCTION carrel.${corpus}_texts_added() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    ${enlist};
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${corpus}_texts_added AFTER INSERT ON carrel.${owners}
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION carrel.${corpus}_texts_added();

  CREATE FUNCTION carrel.${corpus}_texts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM carrel.${corpus}_vectors WHERE owner IN (${touched});
    DELETE FROM carrel.${corpus}_unembedded WHERE owner IN (${touched});
    WITH fresh AS (SELECT * FROM fresh WHERE key IN (${touched}))
    ${enlist};
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${corpus}_texts_changed AFTER UPDATE ON carrel.${owners}
    REFERENCING OLD TABLE AS former NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION carrel.${corpus}_texts_changed();
  `;
}
