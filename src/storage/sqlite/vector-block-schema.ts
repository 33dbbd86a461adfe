/**
 * Vectors in blocks of bytes, from which an image in memory is loaded. What is removed takes its block with it: the other
 * vectors of the block are read one by one until they are packed again. Part of released migrations: never to be changed.
 */
export function vectorBlockSchema(): string {
  return ['context', 'kb']
    .map(
      (corpus) => `
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
  `,
    )
    .join('');
}
