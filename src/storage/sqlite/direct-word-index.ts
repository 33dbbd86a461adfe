/**
 * Terms are written to the FTS5 index by the statement that writes the document, not by a trigger. A statement with a
 * trigger begins with a savepoint, and at each savepoint FTS5 writes out the terms that it has gathered: one segment for
 * each document, and all of them to be merged. Removal keeps its trigger. Part of released migrations: never to be changed.
 *
 * Terms are gathered up to `hashsize` bytes, which is about what a transaction of 1,000 passages has, and segments of one
 * level are merged when there are eight, not four: half the writing, and a search opens a few segments more.
 */
export function directWordIndex(name: string): string {
  return `
  DROP TRIGGER ${name}_terms_added;
  DROP TRIGGER ${name}_terms_changed;
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('hashsize', 8388608);
  INSERT INTO ${name}_words (${name}_words, rank) VALUES ('automerge', 8);
  `;
}
