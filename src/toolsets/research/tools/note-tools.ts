import { createHash } from 'node:crypto';
import * as z from 'zod';
import { daysBefore } from '../../../base/days-before.ts';
import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import { type Idempotency, restorableDays } from '../../../storage/entries/entry.ts';
import type { NoteStore } from '../../../storage/notes/notes.ts';
import { noteNotFound } from '../../../storage/notes/notes.ts';
import { storedText } from '../../../tools/text-input.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { findNote, noteContent, noteId, noteTitle, showNote, sourceUrlList, tagList, tagsMax } from '../notes.ts';

/** Repeated calls with the same key run once and return the same answer. */
const idempotencyInput = { idempotency_key: storedText(z.string().min(1).max(256)).optional() };

/** Returns the key of a call with a hash of its input. Parsing fixes the order of the fields, so equal inputs have equal hashes. */
function idempotencyOf(
  tool: string,
  { idempotency_key: key, ...input }: { idempotency_key?: string | undefined },
): Idempotency | undefined {
  if (key === undefined) return undefined;
  const bodyHash = createHash('sha256')
    .update(`${tool} ${JSON.stringify(input)}`)
    .digest('hex');
  return { key, bodyHash };
}

function parseNoteId(text: string): string {
  const id = noteId(text);
  if (id === undefined) throw noteNotFound(text);
  return id;
}

/**
 * Converts storage failures to `note_save_failed`, as the specification demands. `details.reason` has the original code.
 * Errors that the caller caused stay unchanged. `participle` completes the message "The note was not …".
 */
export async function writeNote<Answer>(participle: string, writing: Promise<Answer>): Promise<Answer> {
  try {
    return await writing;
  } catch (error) {
    if (!isCarrelError(error) || ['input', 'not_found', 'cancelled'].includes(error.kind)) throw error;
    const { retryAfterSeconds: retryAfter } = error;
    throw new CarrelError('note_save_failed', `The note was not ${participle}: ${error.message}`, {
      cause: error,
      data: { details: { reason: error.code, ...(retryAfter === undefined ? {} : { retryAfter }) } },
    });
  }
}

export function createSaveNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'save_note',
    title: 'Save a note',
    description: 'Saves a finding from web research as a note, with its source_urls. list_notes finds it.',
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
    output: looseOutput('note, with the fields of get_note'),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      const idempotency = idempotencyOf('save_note', input);
      const saving = notes.save({ title, content, tags, sourceUrls, idempotency });
      return { note: showNote(await writeNote('saved', saving)) };
    },
  });
}

export function createGetNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'get_note',
    title: 'Get a note',
    description: 'Returns a whole research note by its id from list_notes.',
    effect: 'read',
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({ id: z.string() }),
    output: looseOutput('note: {id, title, content, tags, source_urls, origin?, created_at, updated_at}'),
    async run({ id }, call) {
      const note = await findNote(notes, id, call.signal);
      if (note === undefined) throw noteNotFound(id);
      return { note: showNote(note) };
    },
  });
}

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
    output: looseOutput('note, with the fields of get_note'),
    async run(input) {
      const { title, content, tags, source_urls: sourceUrls } = input;
      if ([title, content, tags, sourceUrls].every((field) => field === undefined)) {
        throw new CarrelError('note_invalid', 'Give at least one of title, content, tags and source_urls.');
      }
      const changes = { title, content, tags, sourceUrls };
      const idempotency = idempotencyOf('update_note', input);
      const updating = notes.update({ id: parseNoteId(input.id), changes, idempotency });
      return { note: showNote(await writeNote('updated', updating)) };
    },
  });
}

export function createDeleteNoteTool(notes: NoteStore): Tool {
  return defineTool({
    name: 'delete_note',
    title: 'Delete a note',
    description: `Deletes a research note. Within ${restorableDays} days, restore: true brings it back.`,
    effect: 'change',
    idempotent: true,
    quota: 'notes',
    argumentError: 'validation_error',
    input: z.object({ id: z.string(), restore: z.boolean().default(false), ...idempotencyInput }),
    output: looseOutput('id, deleted, restorable_until?'),
    async run(input) {
      const id = parseNoteId(input.id);
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

/** Creates the tools that only the web console offers. */
export function createNoteConsoleTools(notes: NoteStore): Tool[] {
  return [
    defineTool({
      name: 'notes_trash',
      title: 'Deleted notes',
      description: 'Lists deleted research notes that can be restored, last deleted first.',
      effect: 'read',
      input: z.object({ limit: z.int().min(1).max(500).default(50), offset: z.int().min(0).default(0) }),
      output: looseOutput('notes, total'),
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
      title: 'Delete notes permanently',
      description: 'Permanently removes deleted research notes.',
      effect: 'change',
      input: z.object({ ids: z.array(z.string()).min(1).max(500) }),
      output: looseOutput('purged'),
      run: async ({ ids }) => ({ purged: await notes.purge({ ids }) }),
    }),
  ];
}
