import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type {
  EntryUpdate,
  Metadata,
  NewEntry,
  StoreOutcome,
  StoreRequest,
  UpdateOutcome,
  UpdateRequest,
} from '../entries.ts';
import { storable } from '../notes.ts';
import { createEntryParts } from './entry-parts.ts';
import { lock, once } from './idempotency.ts';
import { mergePatch } from './merge-patch.ts';
import { type Dialect, numberOf, optionalTextOf, query, type Row, textOf, type Work } from './work.ts';

export interface EntryWrites {
  store(request: StoreRequest, now: string): Work<StoreOutcome[]>;
  update(request: UpdateRequest, now: string): Work<UpdateOutcome[]>;
}

export function createEntryWrites(dialect: Dialect): EntryWrites {
  const entries = `${dialect.schema}context_entries`;
  const parts = createEntryParts(dialect);

  return {
    store: ({ entries: fresh, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const outcomes: StoreOutcome[] = [];
        for (const entry of fresh) outcomes.push(yield* storeOne(entry, now));
        return outcomes;
      }),
    update: ({ updates, allOrNothing, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const outcomes: UpdateOutcome[] = [];
        for (const update of updates) {
          const outcome = yield* updateOne(update, now);
          if (!outcome.found && allOrNothing) throw notFound(update.id);
          outcomes.push(outcome);
        }
        return outcomes;
      }),
  };

  function* storeOne(entry: NewEntry, now: string): Work<StoreOutcome> {
    const threadId = storable(entry.threadId);
    const text = storable(entry.text);
    yield* lock(`thread ${threadId}`, dialect);
    // What comes from elsewhere with its own time is a record of the past, in which nothing repeats.
    const last = entry.createdAt === undefined ? yield* repeatedEntry(threadId, entry.source, text) : undefined;
    if (last === undefined) {
      const id = yield* insert(entry, threadId, text, now);
      return { id, threadId, repeated: false, summaryKept: false };
    }
    const id = numberOf(last, 'key');
    const kept = optionalTextOf(last, 'summary');
    yield* repeat(entry, last, now);
    return { id, threadId, repeated: true, summaryKept: kept !== undefined };
  }

  /**
   * The last entry of the same thread and source, if it has the same text and nobody has answered it since: an agent that
   * tries again. After an answer, the same words are a new turn of the conversation.
   */
  function* repeatedEntry(threadId: string, source: string, text: string): Work<Row | undefined> {
    const [last] = yield* query(
      `SELECT * FROM ${entries} WHERE thread_id = ? AND source = ? AND deleted_at IS NULL ORDER BY key DESC LIMIT 1`,
      ...[threadId, source],
    );
    if (last === undefined || textOf(last, 'text_hash') !== hashOf(text)) return undefined;
    const [answer] = yield* query(
      `SELECT key FROM ${entries} WHERE thread_id = ? AND source <> ? AND key > ? AND deleted_at IS NULL LIMIT 1`,
      ...[threadId, source, numberOf(last, 'key')],
    );
    return answer === undefined ? last : undefined;
  }

  function* insert(entry: NewEntry, threadId: string, text: string, now: string): Work<number> {
    const metadata = presentMetadata(entry.metadata);
    const [row = {}] = yield* query(
      `INSERT INTO ${entries} (thread_id, source, content_type, text_content, text_hash, metadata, summary, created_at,
         updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
      ...[threadId, entry.source, contentType(entry.images.length), text, hashOf(text)],
      ...[jsonOf(metadata), entry.summary ?? null, entry.createdAt ?? now, entry.updatedAt ?? entry.createdAt ?? now],
    );
    const id = numberOf(row, 'key');
    yield* parts.writeWords(id, text);
    if (metadata !== undefined) yield* parts.writeFields(id, metadata);
    if (entry.tags.length > 0) yield* parts.writeTags(id, entry.tags);
    if (entry.images.length > 0) yield* parts.writeImages(id, entry.images);
    return id;
  }

  /** Whatever the new write brings is kept; what it leaves out stays as it was. */
  function* repeat(entry: NewEntry, last: Row, now: string): Work<void> {
    const id = numberOf(last, 'key');
    const metadata = presentMetadata(entry.metadata);
    const type = entry.images.length > 0 ? 'multimodal' : textOf(last, 'content_type');
    yield* query(
      `UPDATE ${entries} SET metadata = coalesce(?, metadata), summary = coalesce(summary, ?), content_type = ?,
         updated_at = ? WHERE key = ?`,
      ...[jsonOf(metadata), entry.summary ?? null, type, now, id],
    );
    if (metadata !== undefined) yield* parts.writeFields(id, metadata);
    if (entry.tags.length > 0) yield* parts.writeTags(id, entry.tags);
    if (entry.images.length > 0) yield* parts.writeImages(id, entry.images);
  }

  function* updateOne(update: EntryUpdate, now: string): Work<UpdateOutcome> {
    const { id } = update;
    const [row] = yield* query(
      `SELECT * FROM ${entries} WHERE key = ? AND deleted_at IS NULL ${dialect.forUpdate}`,
      id,
    );
    if (row === undefined) return { id, found: false };
    const metadata = newMetadata(update, row);
    if (update.text !== undefined) yield* writeText(id, storable(update.text), update.summary ?? null);
    if (metadata !== undefined) {
      const present = presentMetadata(metadata);
      yield* query(`UPDATE ${entries} SET metadata = ? WHERE key = ?`, jsonOf(present), id);
      yield* parts.writeFields(id, present);
    }
    if (update.tags !== undefined) yield* parts.writeTags(id, update.tags);
    const before = textOf(row, 'content_type');
    const type = update.images === undefined ? before : contentType(update.images.length);
    if (update.images !== undefined) yield* parts.writeImages(id, update.images);
    yield* query(`UPDATE ${entries} SET content_type = ?, updated_at = ? WHERE key = ?`, type, now, id);
    const hadSummary = optionalTextOf(row, 'summary') !== undefined;
    return { id, found: true, hadSummary, contentTypeChanged: type !== before };
  }

  function* writeText(id: number, text: string, summary: string | null): Work<void> {
    yield* query(
      `UPDATE ${entries} SET text_content = ?, text_hash = ?, summary = ? WHERE key = ?`,
      ...[text, hashOf(text), summary, id],
    );
    yield* parts.writeWords(id, text);
  }
}

function newMetadata(update: EntryUpdate, row: Row): Metadata | undefined {
  if (update.metadataPatch === undefined) return update.metadata;
  const stored = optionalTextOf(row, 'metadata');
  return mergePatch(stored === undefined ? {} : JSON.parse(stored), update.metadataPatch);
}

function notFound(id: number): CarrelError {
  return new CarrelError('entry_not_found', `Context entry with ID ${id} not found`, { data: { context_id: id } });
}

/** An empty object says as much as none. */
function presentMetadata(metadata: Metadata | undefined): Metadata | undefined {
  return metadata !== undefined && Object.keys(metadata).length > 0 ? metadata : undefined;
}

function jsonOf(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata);
}

function contentType(images: number): 'text' | 'multimodal' {
  return images > 0 ? 'multimodal' : 'text';
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
