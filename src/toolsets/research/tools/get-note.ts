import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { findNote, noteShape, showNote } from '../notes.ts';

export function createGetNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'get_note',
    title: 'Get a note',
    description: 'Returns one saved note in full, by its id from save_note or list_notes.',
    effect: 'read',
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({ id: z.string().describe('UUID of the note.') }),
    output: z.object({ note: noteShape }),
    async run({ id }, call) {
      const note = await findNote(notes, id, call.signal);
      if (note === undefined) throw noteNotFound(id);
      return { note: showNote(note) };
    },
  });
}

/** Only harmless characters of the id are repeated, and at most 36 of them. */
function noteNotFound(id: string): CarrelError {
  const noteId = id.replace(/[^\w-]/g, '?').slice(0, 36);
  return new CarrelError('note_not_found', 'No note has this id. list_notes lists the notes.', {
    data: { details: { noteId } },
  });
}
