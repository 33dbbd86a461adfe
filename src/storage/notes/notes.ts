import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { daysBefore } from '../../base/days-before.ts';
import { CarrelError } from '../../base/errors.ts';
import { textHash } from '../../base/text-hash.ts';
import { makeSnippet, type Snippet } from '../../words/snippet.ts';
import { nothing, plainQuery, type WordQuery } from '../../words/word-query.ts';
import type { KeyFilter, Statements } from '../dialect.ts';
import { restorableDays, type WriteRequest } from '../entries/entry.ts';
import { once } from '../idempotency.ts';
import {
  assignmentOf,
  columnsOf,
  field,
  numberOf,
  optionalTextOf,
  type RecordOf,
  type Row,
  recordOf,
  textOf,
} from '../rows.ts';
import { insertRow, readPage } from '../statements.ts';
import { bothForms, storable } from '../storable.ts';
import { reads, type StoreOf, writes } from '../store-operations.ts';
import { findWords, scoreWords } from '../words/find-words.ts';
import { headingOf, noteWords, removeWords, writeWords } from '../words/word-indexes.ts';

const newFields = {
  title: field.text('title'),
  content: field.text('content'),
  tags: field.texts('tags'),
  sourceUrls: field.texts('source_urls'),
};

const noteFields = {
  /** A version 4 UUID. */
  id: field.text('id'),
  ...newFields,
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: field.text('created_at'),
  updatedAt: field.text('updated_at'),
};

export type NewNote = RecordOf<typeof newFields>;

export type Note = RecordOf<typeof noteFields>;

export interface ListedNote extends Omit<Note, 'content'> {
  /** SHA-256 of the content. */
  readonly contentHash: string;
  /** Excerpt of the content: around the matches, or the start if there are none. */
  readonly snippet: Snippet;
  /** How the note matches the query. Undefined without a query. */
  readonly match?: NoteMatch;
}

interface NoteMatch {
  /** The note's key in the word index. */
  readonly key: number;
  /** The note's BM25 score as a share of the highest possible score: 0 to 1. */
  readonly share: number;
  /** Share of the query's words that the note contains, weighted by rarity: 1 if it contains all. */
  readonly coverage: number;
  /** The part of the content with the most query words. Longer than a snippet, because a reranking model reads it. */
  readonly passage: string;
}

export const noteOperations = {
  ...reads({ get: getNote, list: listNotes }, { replica: true }),
  ...reads({ deleted: deletedNotes }),
  ...writes({ save: saveNote, update: updateNote, remove: removeNote, restore: restoreNote, purge: purgeNotes }),
};

/** Research notes: a title, a text, tags and source addresses. */
export type NoteStore = StoreOf<typeof noteOperations>;

export async function getNote(db: Statements, id: string): Promise<Note | undefined> {
  const [row] = await db.query('SELECT * FROM notes WHERE id = ? AND deleted_at IS NULL', [storable(id)]);
  return row && recordOf(noteFields, row);
}

export interface NoteListRequest {
  /** Words to search for. A note matches if it contains any. If absent, all notes are listed. */
  readonly query?: string | undefined;
  /** The note must have all these tags, exactly as written. */
  readonly tags?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface NotePage {
  readonly notes: readonly ListedNote[];
  /** Number of matching notes on all pages. */
  readonly total: number;
}

/** Length of a passage in UTF-16 code units: about as much as a reranking model reads. */
const passageUnits = 1_100;

/** Lists notes: with a query, most relevant first; otherwise newest first. Ties are ordered by id. */
export async function listNotes(db: Statements, request: NoteListRequest): Promise<NotePage> {
  const tags = new Map(request.tags?.map((tag) => [tag.normalize('NFC'), bothForms([storable(tag)])]));
  const filter = db.dialect.words.labelFilter(noteWords, [...tags.values()]);
  if (request.query === undefined) return newestNotes(db, filter, request);
  const query = plainQuery(request.query);
  const { found, total, scoreMax } = await findWords(db, noteWords, query, filter, request);
  const keys = found.map(({ key }) => key);
  const { documents } = await scoreWords(db, noteWords, { query, keys });
  const terms = new Map(documents.map((each) => [each.key, each.terms]));
  const shareOf = (score: number) => Math.min(1, score / Math.max(scoreMax, Number.EPSILON));
  const sql = `SELECT * FROM notes WHERE key IN (${db.dialect.integers})`;
  const rows = await db.query(sql, [{ list: keys }]);
  const byKey = new Map(rows.map((row) => [numberOf(row, 'key'), row]));
  const notes: ListedNote[] = [];
  for (const { key, score } of found) {
    const row = byKey.get(key);
    if (row === undefined) continue;
    const covered = (terms.get(key) ?? []).reduce((sum, { highest }) => sum + highest, 0);
    const match = {
      key,
      share: shareOf(score),
      coverage: shareOf(covered),
      passage: makeSnippet(textOf(row, 'content'), query, passageUnits).text,
    };
    notes.push({ ...listedNote(row, query), match });
    // Let other requests run: a long note takes tens of milliseconds, and on PostgreSQL this thread also serves requests.
    await nextTurn();
  }
  return { notes, total };
}

async function newestNotes(
  db: Statements,
  filter: KeyFilter | undefined,
  { limit, offset }: NoteListRequest,
): Promise<NotePage> {
  const from = {
    sql: `notes WHERE deleted_at IS NULL${filter ? ` AND key IN (${filter.sql})` : ''}`,
    values: filter?.values ?? [],
  };
  const { rows, total } = await readPage(db, columnsOf(noteFields), from, 'created_at DESC, id', { limit, offset });
  return { notes: rows.map((row) => listedNote(row, nothing)), total };
}

function listedNote(row: Row, query: WordQuery): ListedNote {
  const { content, ...note } = recordOf(noteFields, row);
  return { ...note, contentHash: textHash(content), snippet: makeSnippet(content, query) };
}

export async function saveNote(db: Statements, { idempotency, ...input }: NewNote & WriteRequest): Promise<Note> {
  return once(db, idempotency, async () => {
    const note = newNote(input, db.now);
    const row = { id: note.id, ...noteRow(note), created_at: note.createdAt };
    const key = numberOf(await insertRow(db, 'notes', row, { returning: 'key' }), 'key');
    await indexNote(db, key, note);
    await purge(db);
    return note;
  });
}

function noteRow({ title, content, tags, sourceUrls, updatedAt }: Note) {
  return { title, content, tags: { list: tags }, source_urls: { list: sourceUrls }, updated_at: updatedAt };
}

type NoteChanges = { readonly [Field in keyof NewNote]?: NewNote[Field] | undefined };

interface NoteRequest extends WriteRequest {
  readonly id: string;
}

/**
 * Replaces only the fields in `changes`. Throws `note_not_found` if the note is missing or deleted. If nothing changes, `updatedAt`
 * stays the same, so that a repeated call has no effect.
 */
export async function updateNote(
  db: Statements,
  { id, changes, idempotency }: NoteRequest & { readonly changes: NoteChanges },
): Promise<Note> {
  return once(db, idempotency, async () => {
    const { key, note, deletedAt } = await lockNote(db, id);
    if (deletedAt !== undefined) throw noteNotFound(id);
    const changed = changedNote(note, changes, db.now);
    if (changed !== note) {
      const { sql, values } = assignmentOf(noteRow(changed));
      await db.query(`UPDATE notes SET ${sql} WHERE key = ?`, [...values, key]);
      await removeWords(db, noteWords, [key]);
      await indexNote(db, key, changed);
    }
    await purge(db);
    return changed;
  });
}

/** Deletes a note. It can be restored for `restorableDays`. Repeating the call changes nothing. */
export async function removeNote(db: Statements, { id, idempotency }: NoteRequest): Promise<{ deletedAt: string }> {
  return once(db, idempotency, async () => {
    const { key, deletedAt } = await lockNote(db, id);
    if (deletedAt === undefined) {
      await db.query('UPDATE notes SET deleted_at = ? WHERE key = ?', [db.now, key]);
      await removeWords(db, noteWords, [key]);
    }
    await purge(db);
    await db.query('DELETE FROM idempotency_keys WHERE created_at < ?', [daysBefore(db.now, restorableDays)]);
    return { deletedAt: deletedAt ?? db.now };
  });
}

/** Restores a deleted note. Has no effect on a note that is not deleted. */
export async function restoreNote(db: Statements, { id, idempotency }: NoteRequest): Promise<Note> {
  return once(db, idempotency, async () => {
    const { key, note, deletedAt } = await lockNote(db, id);
    if (deletedAt !== undefined) {
      await db.query('UPDATE notes SET deleted_at = NULL WHERE key = ?', [key]);
      await indexNote(db, key, note);
    }
    return note;
  });
}

const deletedFields = {
  id: field.text('id'),
  title: field.text('title'),
  tags: field.texts('tags'),
  createdAt: field.text('created_at'),
  deletedAt: field.text('deleted_at'),
};

/** Lists the notes that can be restored, last deleted first. */
export async function deletedNotes(
  db: Statements,
  page: { limit: number; offset: number },
): Promise<{ notes: RecordOf<typeof deletedFields>[]; total: number }> {
  const from = { sql: 'notes WHERE deleted_at >= ?', values: [daysBefore(db.now, restorableDays)] };
  const { rows, total } = await readPage(db, columnsOf(deletedFields), from, 'deleted_at DESC, id', page);
  return { notes: rows.map((row) => recordOf(deletedFields, row)), total };
}

/** Purges notes that are deleted already. Returns their number. */
export async function purgeNotes(db: Statements, { ids }: { ids: readonly string[] }): Promise<number> {
  const rows = await db.query(
    `DELETE FROM notes WHERE deleted_at IS NOT NULL AND id IN (${db.dialect.texts}) RETURNING key`,
    [{ list: ids.map(storable) }],
  );
  return rows.length;
}

/** Finds and locks a note, which may be deleted. Throws `note_not_found` if it is missing or can no longer be restored. */
async function lockNote(db: Statements, id: string) {
  const [row] = await db.query(
    `SELECT * FROM notes WHERE id = ? AND (deleted_at IS NULL OR deleted_at >= ?)
      ${db.dialect.forUpdate}`,
    [storable(id), daysBefore(db.now, restorableDays)],
  );
  if (row === undefined) throw noteNotFound(id);
  return { key: numberOf(row, 'key'), note: recordOf(noteFields, row), deletedAt: optionalTextOf(row, 'deleted_at') };
}

async function indexNote(db: Statements, key: number, note: Note): Promise<void> {
  const { title, content, tags } = note;
  await writeWords(db, noteWords, [{ key, title, heading: headingOf(tags), body: content, labels: tags }]);
}

/** Purges notes that can no longer be restored. */
async function purge(db: Statements): Promise<void> {
  await db.query('DELETE FROM notes WHERE deleted_at < ?', [daysBefore(db.now, restorableDays)]);
}

function newNote(note: NewNote, time: string): Note {
  return {
    id: randomUUID(),
    title: storable(note.title),
    content: storable(note.content),
    tags: note.tags.map(storable),
    sourceUrls: note.sourceUrls.map(storable),
    createdAt: time,
    updatedAt: time,
  };
}

/** Applies the changes. Returns the same object if nothing would change. */
function changedNote(note: Note, { title, content, tags, sourceUrls }: NoteChanges, now: string): Note {
  const changed = {
    ...note,
    title: title === undefined ? note.title : storable(title),
    content: content === undefined ? note.content : storable(content),
    tags: tags?.map(storable) ?? note.tags,
    sourceUrls: sourceUrls?.map(storable) ?? note.sourceUrls,
  };
  return isDeepStrictEqual(changed, note) ? note : { ...changed, updatedAt: now };
}

/** Creates the error for an unknown note. Repeats at most 36 characters of the id, and only harmless ones. */
export function noteNotFound(id: string): CarrelError {
  const noteId = id.replace(/[^\w-]/g, '?').slice(0, 36);
  return new CarrelError('note_not_found', 'No note has this id. list_notes lists the notes.', {
    data: { details: { noteId } },
  });
}
