import * as z from 'zod';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import {
  noteContent,
  noteShape,
  noteTitle,
  showNote,
  sourceUrlList,
  sourceUrlsMax,
  tagList,
  tagsMax,
} from '../notes.ts';
import { idempotencyInput, idempotencyOf, writeNote } from '../write-note.ts';

export function createSaveNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'save_note',
    title: 'Save a note',
    description: 'Saves a research note with tags and the addresses of its sources, to be found again with list_notes.',
    effect: 'add',
    quota: 'notes',
    argumentError: 'note_invalid',
    input: z.object({
      title: noteTitle().describe('Title of the note.'),
      content: noteContent().describe('Text of the note.'),
      tags: tagList(tagsMax).default([]).describe(`Up to ${tagsMax} tags; kept in lower case.`),
      source_urls: sourceUrlList().default([]).describe(`Up to ${sourceUrlsMax} addresses of the note's sources.`),
      idempotency_key: idempotencyInput.idempotency_key.describe('Repeated with the same key, a write is done once.'),
    }),
    output: z.object({ note: noteShape }),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      const saving = notes.save({ title, content, tags, sourceUrls }, idempotencyOf('save_note', input));
      return { note: showNote(await writeNote('saved', saving)) };
    },
  });
}
