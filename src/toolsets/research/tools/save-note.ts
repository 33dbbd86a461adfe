import * as z from 'zod';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { noteContent, noteTitle, showNote, sourceUrlList, tagList, tagsMax } from '../notes.ts';
import { idempotencyInput, idempotencyOf, writeNote } from '../write-note.ts';

export function createSaveNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'save_note',
    title: 'Save a note',
    description: 'Saves a finding from research with its sources, for list_notes to find again.',
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
    output: freeAnswer('note, as those of get_note'),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      const saving = notes.save({ title, content, tags, sourceUrls }, idempotencyOf('save_note', input));
      return { note: showNote(await writeNote('saved', saving)) };
    },
  });
}
