import { type Corpus, corpora, wordOwners } from './index-tables.ts';
import { createTable } from './table.ts';
import { firstSettings, tables } from './tables.ts';

/**
 * Tables that only PostgreSQL has. The database also stores the bytes of documents, because processes on different machines may use
 * it. A row of `shared_parts` with a negative `part` is still being written. `expires_at` is in milliseconds of the server's clock.
 */
const postgresTables = `
  CREATE TABLE carrel.kb_originals (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash text COLLATE "C" UNIQUE,
    bytes bigint NOT NULL,
    staged_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE carrel.kb_original_parts (
    original bigint NOT NULL REFERENCES carrel.kb_originals (key) ON DELETE CASCADE,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (original, part)
  );
  ALTER TABLE carrel.kb_original_parts ALTER COLUMN data SET STORAGE EXTERNAL;
  CREATE TABLE carrel.shared_parts (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    part bigint NOT NULL,
    piece integer NOT NULL,
    content bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (kind, id, part, piece)
  );
  CREATE INDEX shared_parts_expiry ON carrel.shared_parts (expires_at);`;

/**
 * Each vector has a copy of its passage's labels, so that a filter need not read the passage. Both triggers run in transactions
 * that have locked the passage, so the copy is never outdated.
 */
const vectorLabels = `
  ALTER TABLE carrel.kb_vectors ADD COLUMN labels text[] COLLATE "C" NOT NULL DEFAULT '{}';
  CREATE INDEX kb_vectors_labels ON carrel.kb_vectors USING gin (labels);
  ${trigger('kb_vectors_labelled', 'BEFORE INSERT ON carrel.kb_vectors FOR EACH ROW', [
    'SELECT p.labels INTO NEW.labels FROM carrel.kb_passages p WHERE p.key = NEW.owner',
    'RETURN NEW',
  ])}
  ${trigger(
    'kb_vectors_relabelled',
    'AFTER UPDATE OF labels ON carrel.kb_passages FOR EACH ROW WHEN (OLD.labels IS DISTINCT FROM NEW.labels)',
    ['UPDATE carrel.kb_vectors SET labels = NEW.labels WHERE owner = NEW.key', 'RETURN NULL'],
  )}`;

const lengths = ['title_length', 'heading_length', 'body_length'];

/** Number of documents and total lengths per index, in 16 rows, so that concurrent transactions rarely wait for one row. */
const wordStatistics = `
  CREATE TABLE carrel.word_statistics (
    word_index text COLLATE "C" NOT NULL,
    part integer NOT NULL,
    documents bigint NOT NULL,
    ${lengths.map((column) => `${column} bigint NOT NULL`).join(',\n    ')},
    PRIMARY KEY (word_index, part)
  );`;

export const postgresSchema: string = [
  ...tables.map((table) => createTable('postgres', table)),
  `INSERT INTO carrel.settings VALUES ('${firstSettings.join("', '")}');`,
  postgresTables,
  ...corpora.map(vectorTriggers),
  vectorLabels,
  wordStatistics,
  ...Object.entries(wordOwners).map(wordIndex),
].join('\n');

function trigger(name: string, event: string, steps: readonly string[]): string {
  return `
  CREATE FUNCTION carrel.${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${steps.join('; ')}; END $$;
  CREATE TRIGGER ${name} ${event} EXECUTE FUNCTION carrel.${name}();`;
}

/** Returns the triggers that queue texts for embedding and record removed vectors. `writeChunks` queues new passages. */
function vectorTriggers({ name, owners, isLive, columns }: Corpus): string {
  const enqueue = `INSERT INTO carrel.${name}_unembedded (model, owner)
    SELECT m.key, f.key FROM fresh f CROSS JOIN carrel.vector_models m
    WHERE m.corpus = '${name}' AND m.name IS NOT NULL AND ${isLive('f')}
    ON CONFLICT DO NOTHING`;
  const added = trigger(
    `${name}_texts_added`,
    `AFTER INSERT ON carrel.${owners} REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT`,
    [enqueue, 'RETURN NULL'],
  );
  const changed = columns.map((column) => `o.${column} IS DISTINCT FROM f.${column}`).join(' OR ');
  const changedKeys = `SELECT f.key FROM fresh f JOIN former o ON o.key = f.key WHERE ${changed}`;
  return [
    trigger(
      `${name}_vectors_removed`,
      `AFTER DELETE ON carrel.${name}_vectors REFERENCING OLD TABLE AS former FOR EACH STATEMENT`,
      [
        `INSERT INTO carrel.${name}_vector_removals (vector)
         SELECT f.key FROM former f JOIN carrel.vector_models m ON m.key = f.model WHERE m.name IS NOT NULL`,
        'RETURN NULL',
      ],
    ),
    name === 'context' ? added : '',
    trigger(
      `${name}_texts_changed`,
      `AFTER UPDATE ON carrel.${owners} REFERENCING OLD TABLE AS former NEW TABLE AS fresh FOR EACH STATEMENT`,
      [
        `DELETE FROM carrel.${name}_vectors WHERE owner IN (${changedKeys})`,
        `DELETE FROM carrel.${name}_unembedded WHERE owner IN (${changedKeys})`,
        `WITH fresh AS (SELECT * FROM fresh WHERE key IN (${changedKeys})) ${enqueue}`,
        'RETURN NULL',
      ],
    ),
  ].join('\n');
}

/** Creates a table with a tsvector of terms and labels per text, its GIN index, and triggers that maintain the statistics. */
function wordIndex([name, owner]: readonly [string, string]): string {
  const sum = (event: 'INSERT' | 'DELETE', sign: '+' | '-', rows: 'NEW' | 'OLD') =>
    trigger(
      `${name}_${event.toLowerCase()}_sums`,
      `AFTER ${event} ON carrel.${name}_terms REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT`,
      [
        `UPDATE carrel.word_statistics s
         SET ${['documents', ...lengths].map((column) => `${column} = s.${column} ${sign} c.${column}`).join(', ')}
         FROM (SELECT count(*) AS documents,
           ${lengths.map((column) => `coalesce(sum(${column}), 0) AS ${column}`).join(', ')} FROM changed) c
         WHERE s.word_index = '${name}' AND s.part = pg_backend_pid() % 16 AND c.documents > 0`,
        'RETURN NULL',
      ],
    );
  return `
  CREATE TABLE carrel.${name}_words (
    key bigint PRIMARY KEY REFERENCES carrel.${owner} (key) ON DELETE CASCADE,
    words tsvector NOT NULL
  );
  CREATE INDEX ${name}_words_index ON carrel.${name}_words USING gin (words);
  INSERT INTO carrel.word_statistics SELECT '${name}', part, 0, 0, 0, 0 FROM generate_series(0, 15) AS part;
  ${sum('INSERT', '+', 'NEW')}
  ${sum('DELETE', '-', 'OLD')}`;
}
