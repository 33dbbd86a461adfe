import { CarrelError } from '../../base/errors.ts';
import type { Snippet } from '../../words/snippet.ts';
import { field, type RecordOf } from '../rows.ts';

const newFields = {
  title: field.text('title'),
  content: field.text('content'),
  tags: field.texts('tags'),
  sourceUrls: field.texts('source_urls'),
};

export const noteFields = {
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

/** Creates the error for an unknown note. Repeats at most 36 characters of the id, and only harmless ones. */
export function noteNotFound(id: string): CarrelError {
  const noteId = id.replace(/[^\w-]/g, '?').slice(0, 36);
  return new CarrelError('note_not_found', 'No note has this id. list_notes lists the notes.', {
    data: { details: { noteId } },
  });
}
