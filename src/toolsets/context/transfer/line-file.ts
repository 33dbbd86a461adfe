import { createReadStream } from 'node:fs';
import { byteOrderMark } from '../../../base/byte-order-mark.ts';
import { CarrelError } from '../../../base/errors.ts';
import { parseExact } from '../../../base/exact-json.ts';
import { isObject } from '../../../base/json.ts';
import type { Entry, NewEntry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { loadEntries } from '../context-parts.ts';
import { normaliseTags } from '../inputs.ts';
import { checkText } from '../write/checked-text.ts';
import { parseImages, showImage } from '../write/images.ts';
import { type ImportItem, readItem, unreadable } from './import-item.ts';

/** Reads the entries of a JSONL file: Carrel's export, or a file of the reference memory server. */
export async function* entriesOfLines(path: string, now: string): AsyncGenerator<ImportItem> {
  let [number, isSupported] = [0, false];
  for await (const raw of linesOf(path)) {
    number += 1;
    const line = raw.replace(byteOrderMark, '');
    if (line.trim() === '') continue;
    const item = entryInLine(line, number, now);
    // If the first line is not an entry, the file has another format.
    if ('reason' in item && !isSupported && item.reason === notAnEntry) throw unsupportedFormat();
    isSupported = true;
    yield item;
  }
}

const notAnEntry = 'it is not an entry';

function entryInLine(line: string, number: number, now: string): ImportItem {
  const place = `line ${number}`;
  const parsed = parseLine(line);
  if (!isObject(parsed)) return { place, reason: notAnEntry };
  if (parsed['type'] !== exportedType) {
    return readItem(
      place,
      () => {
        const entry = entryOfMemory(parsed, now);
        if (entry === undefined) throw unreadable(notAnEntry);
        return entry;
      },
      { hasNoTime: true },
    );
  }
  const { id } = parsed;
  const validId = typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
  return readItem(validId === undefined ? place : `entry ${validId}`, () => entryOfLine(parsed), { id: validId });
}

function parseLine(line: string): unknown {
  try {
    return parseExact(line);
  } catch {
    return undefined;
  }
}

/** Splits a file at `\n` only, because a line of JSON may contain other separators, such as U+2028. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let partial: string[] = [];
  for await (const part of createReadStream(path, 'utf8')) {
    const [first = '', ...nextLines] = String(part).split('\n');
    partial.push(first);
    for (const next of nextLines) {
      yield partial.join('');
      partial = [next];
    }
  }
  yield partial.join('');
}

export function unsupportedFormat(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_import',
    'This file format cannot be imported. Supported: exports of Carrel or the memory server (JSONL), mcp-context-server 2.x databases, and conversations.json.',
    { cause },
  );
}

const memoryThread = 'memory';

/** Converts a line of the reference memory server: an entity with its observations, or a relation. */
function entryOfMemory(line: Readonly<Record<string, unknown>>, now: string): NewEntry | undefined {
  const common = {
    threadId: memoryThread,
    source: 'agent' as const,
    images: [],
    summary: undefined,
    createdAt: now,
    updatedAt: now,
  };
  const text = (key: string) => (typeof line[key] === 'string' ? line[key] : '');
  if (line['type'] === 'entity' && text('name') !== '') {
    const observations = Array.isArray(line['observations']) ? line['observations'].map(String) : [];
    const kind = text('entityType');
    return {
      ...common,
      text: [`${text('name')}${kind === '' ? '' : ` (${kind})`}`, ...observations.map((each) => `- ${each}`)].join(
        '\n',
      ),
      metadata: { entity: text('name'), entity_type: kind },
      tags: normaliseTags(kind === '' ? [] : [kind]),
    };
  }
  if (line['type'] === 'relation' && text('from') !== '' && text('to') !== '') {
    return {
      ...common,
      text: `${text('from')} ${text('relationType')} ${text('to')}`,
      metadata: { from: text('from'), to: text('to'), relation_type: text('relationType') },
      tags: ['relation'],
    };
  }
  return undefined;
}

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

const exportedType = 'carrel.context';

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
function entryOfLine(line: Readonly<Record<string, unknown>>): NewEntry {
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

export function damagedFile(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_import',
    'The database cannot be read: it is damaged, or not from mcp-context-server 2.x. Import another copy of it.',
    { cause },
  );
}
