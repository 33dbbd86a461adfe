import { CarrelError } from '../../base/errors.ts';
import type { Snippet } from '../../words/snippet.ts';
import { field, type RecordOf } from '../record.ts';

const givenFields = {
  title: field.text('title'),
  content: field.text('content'),
  tags: field.texts('tags'),
  sourceUrls: field.texts('source_urls'),
};

export const noteFields = {
  /** A version 4 UUID. */
  id: field.text('id'),
  ...givenFields,
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: field.text('created_at'),
  updatedAt: field.text('updated_at'),
};

export type NewNote = RecordOf<typeof givenFields>;

export type Note = RecordOf<typeof noteFields>;

export interface ListedNote extends Omit<Note, 'content'> {
  /** SHA-256 of the content. */
  readonly contentHash: string;
  /** Excerpt of the content: around the matches, or its start. */
  readonly snippet: Snippet;
  /** How it matches the query, if there is one. */
  readonly match?: NoteMatch;
}

interface NoteMatch {
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
