import type { NoteStore } from '../../contracts/notes.ts';
import type { Transactions } from '../../transactions.ts';
import { getNote, listNotes, saveNote } from './notes.ts';

export function createNoteStore({ write, read }: Transactions): NoteStore {
  return {
    save: (note) => write(saveNote, note),
    get: (id, options) => read(getNote, id, options),
    list: (request, options) => read(listNotes, request, options),
  };
}
