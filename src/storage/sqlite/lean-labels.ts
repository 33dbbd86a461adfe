/**
 * The labels of passages without an index by key and without a foreign key: a passage names its labels itself, so they are
 * found by them when it is removed, and writing them takes half the time. Part of released migrations: never to be changed.
 */
export function leanLabels(corpus: string): string {
  const labels = `${corpus}_passage_labels`;
  return `
  ALTER TABLE ${labels} RENAME TO ${labels}_before;
  CREATE TABLE ${labels} (
    label TEXT NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (label, key)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO ${labels} SELECT label, key FROM ${labels}_before ORDER BY label, key;
  DROP TABLE ${labels}_before;
  CREATE TRIGGER ${labels}_removed AFTER DELETE ON ${corpus}_passages BEGIN
    DELETE FROM ${labels} WHERE label IN (SELECT value FROM json_each(old.labels)) AND key = old.key;
  END;
  `;
}
