import * as z from 'zod';
import { explainInput, rounded, whyFound } from '../../../answers/explain.ts';
import { sharesOf } from '../../../search/rank/evidence-shares.ts';
import { type Reranker, rerankingField } from '../../../search/rerank/reranker.ts';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { boundedText } from '../../../tools/text-input.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { noteCitation, noteUriPrefix } from '../note-resources.ts';
import { showListedNote, tagList, tagsMax } from '../notes.ts';
import { searchNotes } from '../search-notes.ts';

export function createListNotesTool(notes: NoteStore, reranker: Reranker): Tool {
  return defineTool({
    name: 'list_notes',
    title: 'List notes',
    description:
      'Lists research notes, newest first; with a query, the most relevant first, with the matching passage. get_note returns a whole note.',
    effect: 'read',
    resultFields: { list: 'notes', title: 'title', id: { field: 'id', prefix: noteUriPrefix } },
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({
      query: boundedText({ max: 1000, trim: true }).optional(),
      tags: tagList(tagsMax).optional().describe('Only notes with all of these tags.'),
      limit: z.int().min(1).max(100).default(20),
      offset: z.int().min(0).default(0),
      ...explainInput,
    }),
    output: looseOutput(
      'notes: [{id, title, tags, created_at, origin?, snippet, relevance?}], count, total_count, has_more, limit, offset, weak_omitted?, hint?, reranking?',
    ),
    async run({ query, tags, limit, offset, explain }, call) {
      // Many clients send an empty string for an omitted argument.
      const words = query === '' ? undefined : query;
      const page = { limit, offset };
      if (words === undefined) {
        const listed = await notes.list({ tags, ...page }, { signal: call.signal });
        return {
          ...pageOf(listed.notes.map(showListedNote), listed.total, page),
          ...hintFor(listed, { tags, offset }),
        };
      }
      const request = { query: words, tags, ...page, hidesWeak: false, signal: call.signal };
      const { notes: found, total, reranking } = await searchNotes(request, notes, reranker);
      const shown = found.map(({ note, relevance, evidence }) => {
        const listed = showListedNote(note);
        if (!explain) return { ...listed, relevance };
        const text = [listed.title, ...listed.tags, listed.snippet].join('\n');
        const why = whyFound({ query: words, text });
        const scores = rounded(sharesOf(evidence, reranker));
        return { ...listed, relevance, ...noteCitation(note), why, scores };
      });
      const hint = hintFor({ notes: found, total }, { query: words, tags, offset });
      return { ...pageOf(shown, total, page), ...hint, ...rerankingField(reranking) };
    },
  });
}

function pageOf<Note>(notes: Note[], total: number, { limit, offset }: { limit: number; offset: number }) {
  return {
    notes,
    count: notes.length,
    total_count: total,
    has_more: offset + notes.length < total,
    limit,
    offset,
  };
}

/** Explains an empty list and suggests what to do. */
function hintFor(
  { notes, total }: { notes: readonly unknown[]; total: number },
  { query, tags = [], offset }: { query?: string; tags?: readonly string[] | undefined; offset: number },
): { hint?: string } {
  if (notes.length > 0) return {};
  if (total > 0) return { hint: `offset ${offset} is past the last of ${total} notes; start again with offset 0.` };
  if (query === undefined && tags.length === 0) return { hint: 'No note has been saved yet.' };
  const tagged = tags.length > 0 ? ' with all of these tags' : '';
  if (query === undefined) return { hint: `There is no note${tagged}. Omit some, or list all notes without tags.` };
  return { hint: `No note${tagged} contains any of these words. Try others, or list the newest without a query.` };
}
