import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { Entry, NewEntry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { loadEntries } from '../context-parts.ts';
import { normaliseTags } from '../inputs.ts';
import { checkText } from '../write/checked-text.ts';
import { parseImages, showImage } from '../write/images.ts';
import { unreadable } from './found-entry.ts';

const pageSize = 100;
/** Size limits of imported images. They are generous, so that entries stored under other limits can be imported. */
const imageLimits = { imageMaxMb: 1000, imagesMaxMb: 10_000 };

/** Exports all entries as JSON lines, oldest first, with everything needed to recreate them. */
export async function* exportLines(entries: EntryStore, signal: AbortSignal): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const page = await entries.texts({ filter: {}, after, limit: pageSize }, { signal });
    for (const entry of await loadEntries(
      entries,
      page.map(({ id }) => id),
      { images: true },
      signal,
    )) {
      yield `${JSON.stringify(lineOf(entry))}\n`;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

export const exportedType = 'carrel.context';

function lineOf(entry: Entry) {
  return {
    type: exportedType,
    id: entry.id,
    thread_id: entry.threadId,
    source: entry.source,
    text: entry.text,
    metadata: entry.metadata ?? null,
    tags: entry.tags,
    images: (entry.images ?? []).map(showImage),
    summary: entry.summary ?? null,
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
  };
}

/** Parses one line of an export. */
export function entryOfLine(line: Readonly<Record<string, unknown>>): NewEntry {
  const { thread_id: threadId, source, text, metadata, tags, images, summary, created_at: created } = line;
  if (source !== 'user' && source !== 'agent') throw unreadable('its source must be user or agent');
  if (!Array.isArray(tags) || !Array.isArray(images)) throw unreadable('its tags and images must be lists');
  if (metadata !== undefined && metadata !== null && !isObject(metadata))
    throw unreadable('its metadata must be an object');
  if (summary !== undefined && summary !== null && typeof summary !== 'string')
    throw unreadable('its summary must be text');
  if (!images.every(isObject)) throw unreadable('each image must be an object');
  if (!tags.every((tag) => typeof tag === 'string')) throw unreadable('each tag must be text');
  for (const tag of tags) checkText('a tag', tag);
  return {
    threadId: typeof threadId === 'string' ? threadId : '',
    source,
    text: typeof text === 'string' ? text : '',
    metadata: isObject(metadata) ? metadata : undefined,
    tags: normaliseTags(tags),
    images: parseImages(images, imageLimits),
    summary: typeof summary === 'string' ? summary : undefined,
    createdAt: timeOf(created),
    updatedAt: timeOf(line['updated_at'] ?? created),
  };
}

/**
 * Converts a time to ISO 8601 with milliseconds. `value` is in seconds since 1970, or text, which is in UTC if it has
 * no zone.
 */
export function timeOf(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text.replace(' ', 'T')}Z`;
  const date = typeof value === 'number' ? new Date(value * 1000) : new Date(zoned);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    throw unreadable('its date is missing or invalid');
  }
  return date.toISOString();
}

export function damaged(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_import',
    'The file is damaged or of another format: it has an entry without text, source or time.',
    { cause },
  );
}
