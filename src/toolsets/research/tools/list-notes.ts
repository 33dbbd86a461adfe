import * as z from 'zod';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { boundedText } from '../../../tools/bounded-text.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { listedNoteShape, showListedNote, tagList, tagsMax } from '../notes.ts';

export function createListNotesTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'list_notes',
    title: 'List notes',
    description:
      'Lists saved notes: with a query the most relevant first and the matching passage of each, else the newest first. Tags narrow either. Read a whole note with get_note.',
    effect: 'read',
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({
      query: boundedText({ max: 1000, trim: true }).optional().describe('Words to look for, as plain text.'),
      tags: tagList(tagsMax).optional().describe('Only notes that have all of these tags.'),
      limit: z.int().min(1).max(100).default(20).describe('How many notes to return.'),
      offset: z.int().min(0).default(0).describe('How many notes to skip.'),
    }),
    output: z.object({
      notes: z.array(listedNoteShape),
      count: z.int().describe('Notes in this answer.'),
      total_count: z.int().describe('All matching notes.'),
      has_more: z.boolean(),
      limit: z.int(),
      offset: z.int(),
    }),
    async run({ query, tags, limit, offset }, call) {
      // Many clients send an empty string for an argument that they omit.
      const words = query === '' ? undefined : query;
      const page = await notes.list({ query: words, tags, limit, offset }, { signal: call.signal });
      return {
        notes: page.notes.map(showListedNote),
        count: page.notes.length,
        total_count: page.total,
        has_more: offset + page.notes.length < page.total,
        limit,
        offset,
      };
    },
  });
}
