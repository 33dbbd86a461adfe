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

/**
 * Vectors of several models for entries and passages. Those that entries had, of one model each, are kept: their bytes are
 * read as numbers. Stored are plain arrays, which need no extension; an index of pgvector is made on an expression.
 */
export function vectorSchema(): string {
  return `
  ALTER TABLE carrel.context_vectors RENAME TO context_vectors_before;
  DROP INDEX carrel.context_vectors_entry;
  DROP INDEX carrel.context_vectors_model;
  ALTER TABLE carrel.context_vectors_before RENAME CONSTRAINT context_vectors_pkey TO context_vectors_before_pkey;
  ${vectorTables(context)}
  ${vectorTables(kb)}

  CREATE FUNCTION carrel.reals_of(bytes bytea) RETURNS real[] LANGUAGE plpgsql IMMUTABLE AS $$
  DECLARE
    numbers real[] := '{}';
    bits integer;
    exponent integer;
    share double precision;
  BEGIN
    FOR place IN 0 .. length(bytes) / 4 - 1 LOOP
      bits := get_byte(bytes, 4 * place) | (get_byte(bytes, 4 * place + 1) << 8) | (get_byte(bytes, 4 * place + 2) << 16)
        | (get_byte(bytes, 4 * place + 3) << 24);
      exponent := (bits >> 23) & 255;
      share := (bits & 8388607) / 8388608.0::double precision;
      share := CASE WHEN exponent = 0 THEN share * 2.0::double precision ^ (-126)
        ELSE (1 + share) * 2.0::double precision ^ (exponent - 127) END;
      numbers := numbers || (CASE WHEN bits < 0 THEN -share ELSE share END)::real;
    END LOOP;
    RETURN numbers;
  END $$;

  INSERT INTO carrel.context_models (name, dimensions, chosen)
    SELECT model, max(length(vector)) / 4, row_number() OVER (ORDER BY max(key))
    FROM carrel.context_vectors_before GROUP BY model ORDER BY max(key);
  INSERT INTO carrel.context_vectors (owner, model, start_at, end_at, vector)
    SELECT v.entry, m.key, v.start_at, v.end_at, carrel.reals_of(v.vector)
    FROM carrel.context_vectors_before v JOIN carrel.context_models m ON m.name = v.model ORDER BY v.key;
  INSERT INTO carrel.context_unembedded (model, owner)
    SELECT m.key, o.key FROM carrel.context_models m CROSS JOIN carrel.context_entries o
    LEFT JOIN carrel.context_embeddings e ON e.entry = o.key AND e.model = m.name
    WHERE o.deleted_at IS NULL AND e.entry IS NULL;
  DROP TABLE carrel.context_vectors_before;
  DROP TABLE carrel.context_embeddings;
  DROP FUNCTION carrel.reals_of;
  `;
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
    PRIMARY KEY (model, owner)
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
