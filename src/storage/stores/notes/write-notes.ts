import { daysBefore } from '../../../base/days-before.ts';
import { type Idempotency, keptDays } from '../../contracts/entries.ts';
import {
  changedNote,
  type NewNote,
  type Note,
  type NoteRequest,
  type NoteUpdate,
  newNote,
  noteNotFound,
  type RemovedNote,
} from '../../contracts/notes.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { once } from '../idempotency.ts';
import { noteWords } from '../words/word-indexes.ts';
import { removeWords, writeWords } from '../words/write-words.ts';
import { noteOf } from './read-notes.ts';

export interface SaveRequest {
  readonly note: NewNote;
  readonly idempotency: Idempotency | undefined;
}

export async function saveNote(on: Statements, { note: fresh, idempotency }: SaveRequest): Promise<Note> {
  return once(on, idempotency, async () => {
    const note = newNote(fresh, new Date(on.now));
    const [row = {}] = await on.query(
      `INSERT INTO ${on.dialect.schema}notes (id, title, content, tags, source_urls, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key`,
      [
        ...[note.id, note.title, note.content, { list: note.tags }, { list: note.sourceUrls }],
        ...[note.createdAt, note.updatedAt],
      ],
    );
    const key = numberOf(row, 'key');
    await on.dialect.notes.indexTags(on, key, distinctTags(note));
    await indexNote(on, key, note);
    await purge(on);
    return note;
  });
}

/** A change that changes nothing leaves `updatedAt` as it is, so that a repeated call is harmless. */
export async function updateNote(on: Statements, { id, changes, idempotency }: NoteUpdate): Promise<Note> {
  return once(on, idempotency, async () => {
    const { key, note, deletedAt } = await lockNote(on, id);
    if (deletedAt !== undefined) throw noteNotFound(id);
    const changed = changedNote(note, changes, new Date(on.now));
    if (changed !== note) {
      await on.query(
        `UPDATE ${on.dialect.schema}notes SET title = ?, content = ?, tags = ?, source_urls = ?, updated_at = ?
          WHERE key = ?`,
        [
          ...[changed.title, changed.content, { list: changed.tags }, { list: changed.sourceUrls }],
          ...[changed.updatedAt, key],
        ],
      );
      await on.dialect.notes.indexTags(on, key, distinctTags(changed));
      await removeWords(on, noteWords, [key]);
      await indexNote(on, key, changed);
    }
    await purge(on);
    return changed;
  });
}

export async function removeNote(on: Statements, { id, idempotency }: NoteRequest): Promise<RemovedNote> {
  return once(on, idempotency, async () => {
    const { key, deletedAt } = await lockNote(on, id);
    if (deletedAt === undefined) {
      await on.query(`UPDATE ${on.dialect.schema}notes SET deleted_at = ? WHERE key = ?`, [on.now, key]);
      await removeWords(on, noteWords, [key]);
    }
    await purge(on);
    await on.query(`DELETE FROM ${on.dialect.schema}idempotency_keys WHERE created_at < ?`, [
      daysBefore(on.now, keptDays),
    ]);
    return { deletedAt: deletedAt ?? on.now };
  });
}

export async function restoreNote(on: Statements, { id, idempotency }: NoteRequest): Promise<Note> {
  return once(on, idempotency, async () => {
    const { key, note, deletedAt } = await lockNote(on, id);
    if (deletedAt !== undefined) {
      await on.query(`UPDATE ${on.dialect.schema}notes SET deleted_at = NULL WHERE key = ?`, [key]);
      await indexNote(on, key, note);
    }
    return note;
  });
}

/** The note, deleted or not, which nobody else changes until the end. One that was deleted too long ago is gone. */
async function lockNote(on: Statements, id: string) {
  const [row] = await on.query(
    `SELECT * FROM ${on.dialect.schema}notes WHERE id = ? AND (deleted_at IS NULL OR deleted_at >= ?)
      ${on.dialect.forUpdate}`,
    [storable(id), daysBefore(on.now, keptDays)],
  );
  if (row === undefined) throw noteNotFound(id);
  return { key: numberOf(row, 'key'), note: noteOf(row), deletedAt: optionalTextOf(row, 'deleted_at') };
}

async function indexNote(on: Statements, key: number, note: Note): Promise<void> {
  const heading = distinctTags(note).join('\n');
  await writeWords(on, noteWords, [{ key, title: note.title, heading, body: note.content }]);
}

/** What nobody can bring back any more goes for good. */
async function purge(on: Statements): Promise<void> {
  await on.query(`DELETE FROM ${on.dialect.schema}notes WHERE deleted_at < ?`, [daysBefore(on.now, keptDays)]);
}

function distinctTags({ tags }: Note): string[] {
  return [...new Set(tags)];
}
