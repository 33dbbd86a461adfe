import type { DatabaseSync } from 'node:sqlite';
import { isCarrelError } from '../../../base/errors.ts';
import { parseExact } from '../../../base/exact-json.ts';
import { isObject } from '../../../base/json.ts';
import type { Metadata, NewEntry, NewImage } from '../../../storage/entries/entry.ts';
import { loadSqlite } from '../../../storage/sqlite/sqlite-module.ts';
import { normaliseTags } from '../inputs.ts';
import { checkText } from '../write/checked-text.ts';
import { type ImportItem, readItem, unreadable } from './import-item.ts';
import { damagedFile, timeOf, unsupportedFormat } from './line-file.ts';

type Row = Record<string, unknown>;

/** Reads the entries of an mcp-context-server 2.x database, in id order. The file is opened read-only. */
export function* entriesOfOriginal(path: string): Generator<ImportItem> {
  const database = new (loadSqlite().DatabaseSync)(path, { readOnly: true });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    for (const table of ['context_entries', 'tags', 'image_attachments']) checkIsTable(database, table);
    const tags = database.prepare('SELECT tag FROM tags WHERE context_entry_id = ?');
    const images = database.prepare('SELECT * FROM image_attachments WHERE context_entry_id = ? ORDER BY position');
    for (const row of database.prepare('SELECT * FROM context_entries ORDER BY id').iterate()) {
      const id = Number(row['id']);
      yield readItem(`entry ${id}`, () => entryOf(row, tags.all(id), images.all(id)), { id });
    }
  } catch (error) {
    throw isCarrelError(error) ? error : damagedFile(error);
  } finally {
    database.close();
  }
}

/** Rejects views and computed columns: they are code by the file's author and may run forever. */
function checkIsTable(database: DatabaseSync, name: string): void {
  const isTable = database
    .prepare("SELECT 1 FROM pragma_table_list(?) WHERE schema = 'main' AND type = 'table'")
    .get(name);
  const isComputed = database.prepare('SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0 LIMIT 1').get(name);
  if (isTable === undefined || isComputed !== undefined) throw unsupportedFormat();
}

function entryOf(row: Row, tags: readonly Row[], images: readonly Row[]): NewEntry {
  const { thread_id: threadId, source, text_content: text, summary } = row;
  if (source !== 'user' && source !== 'agent') throw unreadable('its source must be user or agent');
  const names = tags.map(({ tag }) => String(tag));
  for (const name of names) checkText('a tag', name);
  return {
    threadId: typeof threadId === 'string' ? threadId : '',
    source,
    text: typeof text === 'string' ? text : '',
    metadata: metadataOf(row['metadata']),
    tags: normaliseTags(names),
    images: images.map(imageOf),
    summary: typeof summary === 'string' && summary !== '' ? summary : undefined,
    createdAt: timeOf(row['created_at']),
    updatedAt: timeOf(row['updated_at'] ?? row['created_at']),
  };
}

function metadataOf(json: unknown): Metadata | undefined {
  if (json === null || json === undefined || json === '') return undefined;
  const value = parseJson(json);
  if (value === null) return undefined;
  if (!isObject(value)) throw unreadable('its metadata must be a JSON object');
  return value;
}

function imageOf(row: Row, index: number): NewImage {
  const data = row['image_data'];
  if (!(data instanceof Uint8Array)) throw unreadable(`its image ${index} has no bytes`);
  return { data, mimeType: String(row['mime_type'] ?? 'image/png'), metadata: imageMetadata(row['image_metadata']) };
}

/** Parses a JSON object or string, and returns anything else as plain text. */
function imageMetadata(json: unknown): Metadata | string | undefined {
  if (json === null || json === undefined || json === '') return undefined;
  const value = parseJson(json);
  if (value === null) return undefined;
  return isObject(value) || typeof value === 'string' ? value : String(json);
}

/** Parses JSON text. Returns undefined if it is invalid. */
function parseJson(json: unknown): unknown {
  try {
    return typeof json === 'string' ? parseExact(json) : undefined;
  } catch {
    return undefined;
  }
}
