import type { NoteTable } from '../stores/notes/note-table.ts';

/** Tags are in a table of their own, beside the list that each note has. */
export const noteTable: NoteTable = {
  async indexTags(on, note, tags) {
    for (const tag of tags) await on.query('INSERT INTO note_tags (tag, note) VALUES (?, ?)', [tag, note]);
  },
  tagged: (tags) => ({
    sql: `SELECT note AS key FROM note_tags WHERE tag IN (SELECT value FROM json_each(?)) GROUP BY note HAVING count(*) = ?`,
    values: [{ list: tags }, tags.length],
  }),
};
