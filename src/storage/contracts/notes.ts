import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CarrelError } from '../../base/errors.ts';
import type { Snippet } from '../../words/snippet.ts';
import { storable } from '../storable.ts';
import type { Idempotency } from './entries.ts';
import type { ReadOptions } from './read-options.ts';

/** Research notes: a title, a text, tags and the addresses it was taken from. */
export interface NoteStore {
  save(note: NewNote, idempotency?: Idempotency): Promise<Note>;
  /** Only what is given is replaced. A note that is not there or deleted is `note_not_found`. */
  update(request: NoteUpdate): Promise<Note>;
  /** It can be restored for `keptDays`; then the next write removes it. Doing it again changes nothing. */
  remove(request: NoteRequest): Promise<RemovedNote>;
  /** A note that is not deleted stays as it is. */
  restore(request: NoteRequest): Promise<Note>;
  get(id: string, options?: ReadOptions): Promise<Note | undefined>;
  /** With a query the most relevant first, else the newest; equals in the order of their ids. */
  list(request: NoteListRequest, options?: ReadOptions): Promise<NotePage>;
}

export interface NewNote {
  readonly title: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly sourceUrls: readonly string[];
}

export interface Note extends NewNote {
  /** A version 4 UUID. */
  readonly id: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NoteRequest {
  readonly id: string;
  readonly idempotency?: Idempotency | undefined;
}

export interface NoteUpdate extends NoteRequest {
  readonly changes: NoteChanges;
}

export type NoteChanges = { readonly [Field in keyof NewNote]?: NewNote[Field] | undefined };

export interface RemovedNote {
  /** When it was removed first. */
  readonly deletedAt: string;
}

export interface NoteListRequest {
  /** Plain words, any of which may occur. Text without a word finds nothing; left out, every note is listed. */
  readonly query?: string | undefined;
  /** The note must have all of them, exactly as written. */
  readonly tags?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface NotePage {
  readonly notes: readonly ListedNote[];
  /** Of all notes that fit, on this page or not. */
  readonly total: number;
}

export interface ListedNote {
  readonly id: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly sourceUrls: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  /** SHA-256 of the content. */
  readonly contentHash: string;
  /** Of the content: around the matches, or its start. */
  readonly snippet: Snippet;
  /** How it matches the query, where there is one. */
  readonly match?: NoteMatch;
}

export interface NoteMatch {
  /** As in the word index. */
  readonly key: number;
  /** BM25 as a share of the highest possible score: 0 to 1. */
  readonly share: number;
  /** How much of the query's words it has, each by its rarity: 1 with every word. */
  readonly coverage: number;
  /** The part of the content with the most of the words: more than a snippet, for a model to read. */
  readonly passage: string;
}

export function newNote(note: NewNote, now: Date): Note {
  const time = now.toISOString();
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

/** The note itself if nothing would change. */
export function changedNote(note: Note, { title, content, tags, sourceUrls }: NoteChanges, now: Date): Note {
  const changed = {
    ...note,
    title: title === undefined ? note.title : storable(title),
    content: content === undefined ? note.content : storable(content),
    tags: tags?.map(storable) ?? note.tags,
    sourceUrls: sourceUrls?.map(storable) ?? note.sourceUrls,
  };
  return isDeepStrictEqual(changed, note) ? note : { ...changed, updatedAt: now.toISOString() };
}

/** Only harmless characters of the id are repeated, and at most 36 of them. */
export function noteNotFound(id: string): CarrelError {
  const noteId = id.replace(/[^\w-]/g, '?').slice(0, 36);
  return new CarrelError('note_not_found', 'No note has this id. list_notes lists the notes.', {
    data: { details: { noteId } },
  });
}
