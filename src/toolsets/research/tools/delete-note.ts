import * as z from 'zod';
import { daysBefore } from '../../../base/days-before.ts';
import { restorableDays } from '../../../storage/entries/entry.ts';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { existingId, idempotencyInput, idempotencyOf, writeNote } from '../write-note.ts';

export function createDeleteNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'delete_note',
    title: 'Delete a note',
    description: `Deletes a research note. restore: true undoes this for ${restorableDays} days.`,
    effect: 'change',
    idempotent: true,
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({ id: z.string(), restore: z.boolean().default(false), ...idempotencyInput }),
    output: freeAnswer('id, deleted, restorable_until?'),
    async run(input) {
      const id = existingId(input.id);
      const request = { id, idempotency: idempotencyOf('delete_note', input) };
      if (input.restore) {
        await writeNote('restored', notes.restore(request));
        return { id, deleted: false };
      }
      const { deletedAt } = await writeNote('deleted', notes.remove(request));
      return { id, deleted: true, restorable_until: daysBefore(deletedAt, -restorableDays) };
    },
  });
}
