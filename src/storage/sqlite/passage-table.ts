import type { PassageTable } from '../dialect.ts';
import { indexedColumns } from '../schema/sqlite-schema.ts';
import type { Database } from './database.ts';
import { labelTokens } from './word-table.ts';

/** Labels are in the word index, besides each passage's own list. */
export function createPassageTable(database: Database): PassageTable {
  return {
    async relabel(_, parent, labels) {
      const among = 'key IN (SELECT key FROM kb_passages WHERE parent = ?)';
      const terms = `${indexedColumns} FROM kb_passage_terms WHERE ${among}`;
      database.run(
        `INSERT INTO kb_passage_words (kb_passage_words, rowid, ${indexedColumns}) SELECT 'delete', key, ${terms}`,
        parent,
      );
      database.run(`UPDATE kb_passage_terms SET labels = ? WHERE ${among}`, labelTokens(labels).join(' '), parent);
      database.run(`INSERT INTO kb_passage_words (rowid, ${indexedColumns}) SELECT key, ${terms}`, parent);
    },
  };
}
