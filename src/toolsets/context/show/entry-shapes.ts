import { CarrelError } from '../../../base/errors.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { originField, originOfMetadata } from '../../../tools/origin.ts';
import { showImage } from '../write/images.ts';

export const entryUriPrefix = 'carrel://context/';

/** Returns the URI of an entry's image. Images are counted from 0. */
export function imageUri(id: number, position: number): string {
  return `${entryUriPrefix}${id}/images/${position}`;
}

/** Renders an entry for get_context_by_ids. */
export function showFull(entry: Entry) {
  return { ...showCommon(entry), text_content: entry.text, summary: entry.summary ?? null };
}

/** Renders an entry for searches. */
export function showHit(entry: Entry, charsMax: number) {
  const { text, truncated } = truncate(entry.text, charsMax);
  return {
    ...showCommon(entry),
    text_content: text,
    summary: entry.summary ?? '',
    is_text_content_truncated: truncated,
  };
}

function showCommon(entry: Entry) {
  return {
    id: entry.id,
    thread_id: entry.threadId,
    source: entry.source,
    ...originField(originOfMetadata(entry.metadata)),
    content_type: entry.contentType,
    metadata: entry.metadata === undefined ? null : { ...entry.metadata },
    tags: [...entry.tags],
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    ...(entry.images !== undefined && entry.contentType === 'multimodal'
      ? { images: entry.images.map(showImage) }
      : {}),
  };
}

export async function getEntry(entries: EntryStore, id: number, signal: AbortSignal, asOf?: string): Promise<Entry> {
  const [entry] = await entries.get({ ids: [id], images: false, asOf }, { signal });
  if (entry === undefined) {
    throw new CarrelError('entry_not_found', `Context entry with ID ${id} not found`, { data: { context_id: id } });
  }
  return entry;
}

/** Truncates a long text, at a space if there is one in the last 30 %. Counts code points. */
export function truncate(text: string, charsMax: number): { text: string; truncated: boolean } {
  // A text never has more code points than UTF-16 units, so most texts need no counting.
  if (text.length <= charsMax) return { text, truncated: false };
  const characters = Array.from(text.slice(0, 2 * charsMax + 2));
  if (characters.length <= charsMax && 2 * charsMax + 2 >= text.length) return { text, truncated: false };
  const start = characters.slice(0, charsMax);
  const space = start.lastIndexOf(' ');
  const beginning = space > charsMax * 0.7 ? start.slice(0, space) : start;
  return { text: `${beginning.join('')}...`, truncated: true };
}

/** Formats remarks for the end of a message, in parentheses. Falsy ones are dropped. */
export function remarks(...notes: (string | false | undefined)[]): string {
  const present = notes.filter((note) => typeof note === 'string');
  return present.length === 0 ? '' : ` (${present.join(', ')})`;
}
