import type { NoteTable } from '../stores/notes/note-table.ts';

/** Tags are indexed where they are. */
export const noteTable: NoteTable = {
  indexTags: async () => {},
  tagged: (tags) => ({
    sql: 'SELECT o.key FROM carrel.notes o WHERE o.tags @> ?::text[]',
    values: [{ list: tags }],
  }),
};
