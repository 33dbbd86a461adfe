import { randomUUID } from 'node:crypto';
import type { Snippet } from '../../words/snippet.ts';
import { storable } from '../storable.ts';
import type { ReadOptions } from './read-options.ts';

/** Research notes: a title, a text, tags and the addresses it was taken from. */
export interface NoteStore {
  save(note: NewNote): Promise<Note>;
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
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Of the content: around the matches, or its start. */
  readonly snippet: Snippet;
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
