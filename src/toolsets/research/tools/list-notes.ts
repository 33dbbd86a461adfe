import * as z from 'zod';
import type { Reranker } from '../../../search/reranking/reranker.ts';
import type { NoteStore } from '../../../storage/contracts/notes.ts';
import { boundedText } from '../../../tools/bounded-text.ts';
import { rerankingShape } from '../../../tools/reranking-shape.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { listedNoteShape, showListedNote, tagList, tagsMax } from '../notes.ts';
import { searchNotes } from '../search-notes.ts';

export function createListNotesTool(notes: NoteStore, reranker: Reranker): Tool {
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
      reranking: rerankingShape.optional(),
    }),
    async run({ query, tags, limit, offset }, call) {
      // Many clients send an empty string for an argument that they omit.
      const words = query === '' ? undefined : query;
      const page = { limit, offset };
      if (words === undefined) {
        const listed = await notes.list({ tags, ...page }, { signal: call.signal });
        return { ...counted(listed.notes.map(showListedNote), listed.total, page) };
      }
      const request = { query: words, tags, ...page, cutsWeak: false, signal: call.signal };
      const { notes: found, total, reranking } = await searchNotes(request, notes, reranker);
      const shown = found.map(({ note, relevance }) => ({ ...showListedNote(note), relevance }));
      return { ...counted(shown, total, page), reranking };
    },
  });
}

function counted<Note>(notes: Note[], total: number, { limit, offset }: { limit: number; offset: number }) {
  return {
    notes,
    count: notes.length,
    total_count: total,
    has_more: offset + notes.length < total,
    limit,
    offset,
  };
}
