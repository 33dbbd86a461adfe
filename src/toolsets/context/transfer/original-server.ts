import { isCarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { NewEntry, NewImage } from '../../../storage/contracts/entries.ts';
import { loadSqlite } from '../../../storage/sqlite/sqlite-module.ts';
import { normaliseTags } from '../inputs.ts';
import { damaged, timeOf } from './entry-lines.ts';

type Row = Record<string, unknown>;

/** The entries of an mcp-context-server 2.x database. The file is opened read-only. */
export function* entriesOfOriginal(path: string): Generator<NewEntry> {
  const database = new (loadSqlite().DatabaseSync)(path, { readOnly: true });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    const tags = database.prepare('SELECT tag FROM tags WHERE context_entry_id = ?');
    const images = database.prepare('SELECT * FROM image_attachments WHERE context_entry_id = ? ORDER BY position');
    for (const row of database.prepare('SELECT * FROM context_entries ORDER BY id').iterate()) {
      const id = Number(row['id']);
      yield entryOf(row, tags.all(id), images.all(id));
    }
  } catch (error) {
    throw isCarrelError(error) ? error : damaged(error);
  } finally {
    database.close();
  }
}

function entryOf(row: Row, tags: readonly Row[], images: readonly Row[]): NewEntry {
  const { thread_id: threadId, source, text_content: text, summary } = row;
  if (typeof threadId !== 'string' || typeof text !== 'string' || threadId === '' || text === '') throw damaged();
  if (source !== 'user' && source !== 'agent') throw damaged();
  return {
    threadId,
    source,
    text,
    metadata: jsonObject(row['metadata']),
    tags: normaliseTags(tags.map(({ tag }) => String(tag))),
    images: images.map(imageOf),
    summary: typeof summary === 'string' && summary !== '' ? summary : undefined,
    createdAt: timeOf(row['created_at']),
    updatedAt: timeOf(row['updated_at'] ?? row['created_at']),
  };
}

function imageOf(row: Row): NewImage {
  const data = row['image_data'];
  if (!(data instanceof Uint8Array)) throw damaged();
  return { data, mimeType: String(row['mime_type'] ?? 'image/png'), metadata: jsonObject(row['image_metadata']) };
}

function jsonObject(text: unknown) {
  if (typeof text !== 'string') return undefined;
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : undefined;
}
