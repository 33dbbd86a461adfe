import type { NoteStore } from '../../contracts/notes.ts';
import type { Transactions } from '../../transactions.ts';
import { getNote, listNotes } from './read-notes.ts';
import { removeNote, restoreNote, saveNote, updateNote } from './write-notes.ts';

export function createNoteStore({ write, read }: Transactions): NoteStore {
  return {
    save: (note, idempotency) => write(saveNote, { note, idempotency }),
    update: (request) => write(updateNote, request),
    remove: (request) => write(removeNote, request),
    restore: (request) => write(restoreNote, request),
    get: (id, options) => read(getNote, id, options),
    list: (request, options) => read(listNotes, request, options),
  };
}
