import * as z from 'zod';
import { noteNotFound } from '../../../storage/notes/note.ts';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { findNote, showNote } from '../notes.ts';

export function createGetNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'get_note',
    title: 'Get a note',
    description: 'Returns a whole research note by its id from list_notes.',
    effect: 'read',
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({ id: z.string() }),
    output: freeAnswer('note: {id, title, content, tags, source_urls, origin?, created_at, updated_at}'),
    async run({ id }, call) {
      const note = await findNote(notes, id, call.signal);
      if (note === undefined) throw noteNotFound(id);
      return { note: showNote(note) };
    },
  });
}
