import * as z from 'zod';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';

/** Creates the tools that only the web console offers. */
export function createNoteConsoleTools(notes: NoteStore): Tool[] {
  return [
    defineTool({
      name: 'notes_trash',
      title: 'Deleted notes',
      description: 'Lists deleted research notes that can be restored, last deleted first.',
      effect: 'read',
      input: z.object({ limit: z.int().min(1).max(500).default(50), offset: z.int().min(0).default(0) }),
      output: freeAnswer('notes, total'),
      async run(request, { signal }) {
        const { notes: deleted, total } = await notes.deleted(request, { signal });
        const shown = deleted.map(({ id, title, tags, createdAt, deletedAt }) => ({
          id,
          title,
          tags: [...tags],
          created_at: createdAt,
          deleted_at: deletedAt,
        }));
        return { notes: shown, total };
      },
    }),
    defineTool({
      name: 'notes_purge',
      title: 'Delete notes for good',
      description: 'Removes deleted research notes from the trash.',
      effect: 'change',
      input: z.object({ ids: z.array(z.string()).min(1).max(500) }),
      output: freeAnswer('purged'),
      run: async ({ ids }) => ({ purged: await notes.purge({ ids }) }),
    }),
  ];
}
