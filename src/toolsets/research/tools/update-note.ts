import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { noteContent, noteTitle, showNote, sourceUrlList, tagList, tagsMax } from '../notes.ts';
import { existingId, idempotencyInput, idempotencyOf, writeNote } from '../write-note.ts';

export function createUpdateNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'update_note',
    title: 'Update a note',
    description: 'Replaces the given fields of a research note; [] clears tags or source_urls.',
    effect: 'change',
    idempotent: true,
    quota: 'notes',
    argumentError: 'note_invalid',
    input: z.object({
      id: z.string(),
      title: noteTitle().optional(),
      content: noteContent().optional(),
      tags: tagList(tagsMax).optional(),
      source_urls: sourceUrlList().optional(),
      ...idempotencyInput,
    }),
    output: freeAnswer('note, with the fields of get_note'),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      if ([title, content, tags, sourceUrls].every((field) => field === undefined)) {
        throw new CarrelError('note_invalid', 'Give at least one of title, content, tags and source_urls.');
      }
      const changes = { title, content, tags, sourceUrls };
      const idempotency = idempotencyOf('update_note', input);
      const updating = notes.update({ id: existingId(input.id), changes, idempotency });
      return { note: showNote(await writeNote('updated', updating)) };
    },
  });
}
