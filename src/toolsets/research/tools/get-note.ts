import * as z from 'zod';
import { type NoteStore, noteNotFound } from '../../../storage/contracts/notes.ts';
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
