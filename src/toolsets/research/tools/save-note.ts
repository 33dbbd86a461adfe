import * as z from 'zod';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { boundedText } from '../../../tools/bounded-text.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { noteShape, saveNote, showNote, sourceUrlList, sourceUrlsMax, tagList, tagsMax } from '../notes.ts';

const titleCharsMax = 200;
const contentCharsMax = 50_000;

export function createSaveNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'save_note',
    title: 'Save a note',
    description: 'Saves a research note with tags and the addresses of its sources, to be found again with list_notes.',
    effect: 'add',
    quota: 'notes',
    argumentError: 'note_invalid',
    input: z.object({
      title: boundedText({ required: true, max: titleCharsMax, trim: true }).describe('Title of the note.'),
      content: boundedText({ required: true, max: contentCharsMax }).describe('Text of the note.'),
      tags: tagList(tagsMax).default([]).describe(`Up to ${tagsMax} tags; kept in lower case.`),
      source_urls: sourceUrlList().default([]).describe(`Up to ${sourceUrlsMax} addresses of the note's sources.`),
    }),
    output: z.object({ note: noteShape }),
    async run({ title, content, tags, source_urls: sourceUrls }) {
      return { note: showNote(await saveNote(notes, { title, content, tags, sourceUrls })) };
    },
  });
}
