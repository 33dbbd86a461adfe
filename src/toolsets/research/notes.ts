import * as z from 'zod';
import { cleanText } from '../../documents/text/clean-text.ts';
import type { ListedNote, Note, NoteStore } from '../../storage/notes/notes.ts';
import { type Origin, originField, originOfSources } from '../../tools/origin.ts';
import { boundedText, storedText } from '../../tools/text-input.ts';

const titleCharsMax = 200;
const contentCharsMax = 50_000;
export const tagsMax = 10;
const sourceUrlsMax = 20;
const tagCharsMax = 100;
const urlCharsMax = 2048;

/** Returns a note for an answer, without invisible characters that could hide words from people. */
export function showNote(note: Note) {
  return {
    id: note.id,
    title: cleanText(note.title),
    content: cleanText(note.content),
    tags: note.tags.map(cleanText),
    source_urls: [...note.sourceUrls],
    ...originField(originOf(note)),
    created_at: note.createdAt,
    updated_at: note.updatedAt,
  };
}

export function originOf({ sourceUrls }: Pick<Note, 'sourceUrls'>): Origin {
  return originOfSources(sourceUrls, 'user');
}

export function showListedNote(note: ListedNote) {
  return {
    id: note.id,
    title: cleanText(note.title),
    tags: note.tags.map(cleanText),
    ...originField(originOf(note)),
    created_at: note.createdAt,
    snippet: cleanText(note.snippet.text),
  };
}

/** Creates a schema for tags. It trims and lower-cases them, and drops duplicates and empty ones. */
export function tagList(max: number) {
  return z
    .array(storedText(boundedText({ max: tagCharsMax, trim: true })))
    .transform((tags) => [...new Set(tags.map((tag) => tag.toLowerCase()).filter((tag) => tag !== ''))])
    .refine((tags) => tags.length <= max, { error: `must have at most ${max} distinct tags` })
    .meta({ maxItems: max });
}

export function noteTitle() {
  return storedText(boundedText({ required: true, max: titleCharsMax, trim: true }));
}

export function noteContent() {
  return storedText(boundedText({ required: true, max: contentCharsMax }));
}

/** Creates a schema for the sources of a note. They are stored as data and never fetched. */
export function sourceUrlList() {
  return z
    .array(
      storedText(boundedText({ max: urlCharsMax, trim: true })).refine(isWebUrl, {
        error: 'must be an http or https URL',
      }),
    )
    .transform((urls) => [...new Set(urls)])
    .refine((urls) => urls.length <= sourceUrlsMax, { error: `must have at most ${sourceUrlsMax} distinct URLs` })
    .meta({ maxItems: sourceUrlsMax });
}

/** Returns a UUID in lower case, or undefined for any other text: only UUIDs can be ids of notes. */
export function noteId(text: string): string | undefined {
  const canonical = text.trim().toLowerCase();
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(canonical) ? canonical : undefined;
}

export async function findNote(notes: NoteStore, text: string, signal: AbortSignal): Promise<Note | undefined> {
  const id = noteId(text);
  return id === undefined ? undefined : await notes.get(id, { signal });
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && /^[^\s\p{Cc}]+$/u.test(text);
}
