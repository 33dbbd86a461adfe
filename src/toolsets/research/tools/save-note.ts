import * as z from 'zod';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { noteContent, noteTitle, showNote, sourceUrlList, tagList, tagsMax } from '../notes.ts';
import { idempotencyInput, idempotencyOf, writeNote } from '../write-note.ts';

export function createSaveNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'save_note',
    title: 'Save a note',
    description: 'Saves a finding from web research as a note, with its source_urls. list_notes finds it again.',
    effect: 'add',
    quota: 'notes',
    argumentError: 'note_invalid',
    input: z.object({
      title: noteTitle(),
      content: noteContent(),
      tags: tagList(tagsMax).default([]),
      source_urls: sourceUrlList().default([]),
      ...idempotencyInput,
    }),
    output: freeAnswer('note, with the fields of get_note'),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      const idempotency = idempotencyOf('save_note', input);
      const saving = notes.save({ title, content, tags, sourceUrls, idempotency });
      return { note: showNote(await writeNote('saved', saving)) };
    },
  });
}
