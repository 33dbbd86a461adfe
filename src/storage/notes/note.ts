import { CarrelError } from '../../base/errors.ts';
import type { Snippet } from '../../words/snippet.ts';
import type { Idempotency } from '../entries/entry.ts';

export interface NewNote {
  readonly title: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly sourceUrls: readonly string[];
}

export interface NoteToSave extends NewNote {
  readonly idempotency?: Idempotency | undefined;
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
  /** Time of the first removal. */
  readonly deletedAt: string;
}

export interface DeletedNote {
  readonly id: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly deletedAt: string;
}

export interface DeletedNotePage {
  readonly notes: readonly DeletedNote[];
  readonly total: number;
}

export interface NoteListRequest {
  /** Plain words, any of which may occur. Text without a word finds nothing; if absent, every note is listed. */
  readonly query?: string | undefined;
  /** The note must have all of them, exactly as written. */
  readonly tags?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface NotePage {
  readonly notes: readonly ListedNote[];
  /** All matching notes, on any page. */
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
  /** Excerpt of the content: around the matches, or its start. */
  readonly snippet: Snippet;
  /** How it matches the query, if there is one. */
  readonly match?: NoteMatch;
}

export interface NoteMatch {
  /** As in the word index. */
  readonly key: number;
  /** BM25 as a share of the highest possible score: 0 to 1. */
  readonly share: number;
  /** How much of the query's words it has, weighted by rarity: 1 with every word. */
  readonly coverage: number;
  /** The part of the content with the most query words: longer than a snippet, for a model to read. */
  readonly passage: string;
}

/** Repeats only harmless characters of the id, at most 36. */
export function noteNotFound(id: string): CarrelError {
  const noteId = id.replace(/[^\w-]/g, '?').slice(0, 36);
  return new CarrelError('note_not_found', 'No note has this id. list_notes lists the notes.', {
    data: { details: { noteId } },
  });
}
