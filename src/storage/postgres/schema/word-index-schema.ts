/**
 * The tables of one word index: the set of each document's terms as a tsvector for the index to find it by, apart from
 * the terms themselves, so that a search reads short rows only; and their sums, in several rows, because transactions
 * that add to the same row wait for one another. Triggers keep the three in step.
 *
 * Phrases are matched in the terms, because a tsvector keeps no position beyond 16,383.
 */
export function wordIndexSchema(name: string, owner: string): string {
  const sum = (event: 'INSERT' | 'DELETE', sign: '+' | '-', rows: 'NEW' | 'OLD') => `
  CREATE FUNCTION carrel.${name}_${event.toLowerCase()}_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE carrel.${name}_statistics s SET
      documents = s.documents ${sign} c.documents,
      title_length = s.title_length ${sign} c.title_length,
      heading_length = s.heading_length ${sign} c.heading_length,
      body_length = s.body_length ${sign} c.body_length
    FROM (SELECT count(*) AS documents, coalesce(sum(title_length), 0) AS title_length,
        coalesce(sum(heading_length), 0) AS heading_length, coalesce(sum(body_length), 0) AS body_length
      FROM changed) c
    WHERE s.part = pg_backend_pid() % 16 AND c.documents > 0;
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${name}_${event.toLowerCase()}_sums AFTER ${event} ON carrel.${name}_terms
    REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.${name}_${event.toLowerCase()}_sums();`;
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
    body_length integer NOT NULL
  );
  CREATE TABLE carrel.${name}_words (
    key bigint PRIMARY KEY REFERENCES carrel.${owner} (key) ON DELETE CASCADE,
    words tsvector NOT NULL
  );
  CREATE INDEX ${name}_words_index ON carrel.${name}_words USING gin (words);
  CREATE TABLE carrel.${name}_statistics (
    part integer PRIMARY KEY,
    documents bigint NOT NULL,
    title_length bigint NOT NULL,
    heading_length bigint NOT NULL,
    body_length bigint NOT NULL
  );
  INSERT INTO carrel.${name}_statistics SELECT part, 0, 0, 0, 0 FROM generate_series(0, 15) AS part;
  ${sum('INSERT', '+', 'NEW')}
  ${sum('DELETE', '-', 'OLD')}
  `;
}
