import { createHash } from 'node:crypto';
import { CarrelError } from '../../../base/errors.ts';
import {
  type EntryUpdate,
  keptDays,
  type Metadata,
  metadataUnitsMax,
  type NewEntry,
  type StoreOutcome,
  type StoreRequest,
  type UpdateOutcome,
  type UpdateRequest,
} from '../../contracts/entries.ts';
import { storable } from '../../contracts/notes.ts';
import type { Dialect } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../statements.ts';
import type { ContentType } from './entry-filter.ts';
import { keepVersion } from './entry-history.ts';
import { createEntryParts } from './entry-parts.ts';
import { lockAll, once, threadLock } from './idempotency.ts';
import { createFieldIndex, type FieldIndex, readFieldNames } from './indexed-fields.ts';
import { mergePatch } from './merge-patch.ts';
import { daysBefore } from './remove-entries.ts';
import { type AddedEntry, createThreadCounts } from './thread-counts.ts';
import { query, type Work } from './work.ts';

export interface EntryWrites {
  store(request: StoreRequest, now: string): Work<StoreOutcome[]>;
  update(request: UpdateRequest, now: string): Work<UpdateOutcome[]>;
}

/** An entry whose row is written, and what is still to be written of it. */
interface Added extends AddedEntry {
  readonly text: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata | undefined;
}

export function createEntryWrites(dialect: Dialect): EntryWrites {
  const entries = `${dialect.schema}context_entries`;
  const parts = createEntryParts(dialect);
  const counts = createThreadCounts(dialect);

  return {
    store: ({ entries: fresh, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const index = yield* fieldIndex(fresh.some(({ metadata }) => metadata !== undefined));
        yield* lockAll([...new Set(fresh.map(({ threadId }) => threadLock(storable(threadId))))], dialect);
        const added: Added[] = [];
        const outcomes: StoreOutcome[] = [];
        for (const entry of fresh) outcomes.push(yield* storeOne(entry, index, added, now));
        yield* writeParts(added, index);
        return outcomes;
      }),
    update: ({ updates, allOrNothing, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const index = yield* fieldIndex(updates.some(({ metadata, metadataPatch }) => metadata ?? metadataPatch));
        const outcomes: UpdateOutcome[] = [];
        for (const [place, update] of updates.entries()) {
          const outcome = yield* updateOne(update, index, now);
          if (!outcome.found && allOrNothing) throw notFound(update.id, updates.length > 1 ? place : undefined);
          outcomes.push(outcome);
        }
        yield* query(`DELETE FROM ${dialect.schema}context_versions WHERE replaced_at < ?`, daysBefore(now, keptDays));
        return outcomes;
      }),
  };

  /** The fields that the index holds. Shared with other writers, and not to be changed while one of them writes. */
  function* fieldIndex(isNeeded: boolean): Work<FieldIndex> {
    return createFieldIndex(isNeeded ? yield* readFieldNames('share', dialect) : []);
  }

  function* storeOne(entry: NewEntry, index: FieldIndex, added: Added[], now: string): Work<StoreOutcome> {
    const threadId = storable(entry.threadId);
    const text = storable(entry.text);
    // What comes from elsewhere with its own time is a record of the past, in which nothing repeats.
    const last = entry.createdAt === undefined ? yield* repeatedEntry(threadId, entry.source, text) : undefined;
    if (last === undefined) {
      const fresh = yield* insert(entry, threadId, text, now);
      added.push(fresh);
      return { id: fresh.id, threadId, repeated: false, summaryKept: false };
    }
    // It may be one of those.
    yield* writeParts(added.splice(0), index);
    const id = numberOf(last, 'key');
    const kept = optionalTextOf(last, 'summary');
    yield* repeat(entry, last, index, now);
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

  function* insert(entry: NewEntry, threadId: string, text: string, now: string): Work<Added> {
    const metadata = presentMetadata(entry.metadata);
    const type = contentType(entry.images.length);
    const createdAt = entry.createdAt ?? now;
    const [row = {}] = yield* query(
      `INSERT INTO ${entries} (thread_id, source, content_type, text_content, text_hash, metadata, summary, created_at,
         updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
      ...[threadId, entry.source, type, text, hashOf(text)],
      ...[jsonOf(metadata), entry.summary ?? null, createdAt, entry.updatedAt ?? createdAt],
    );
    const id = numberOf(row, 'key');
    if (entry.summaryWanted) yield* parts.wantSummary(id);
    if (entry.images.length > 0) yield* parts.writeImages(id, entry.images);
    return { id, threadId, source: entry.source, type, createdAt, text, tags: entry.tags, metadata };
  }

  /** What belongs to new entries, of many in few statements. */
  function* writeParts(added: readonly Added[], index: FieldIndex): Work<void> {
    if (added.length === 0) return;
    yield* counts.add(added);
    yield* parts.addWords(added.map(({ id, text }) => ({ entry: id, text })));
    yield* parts.addTags(added.map(({ id, tags }) => ({ entry: id, tags })));
    yield* parts.addFields(
      added.flatMap(({ id, metadata }) => (metadata === undefined ? [] : [{ entry: id, metadata }])),
      index,
    );
  }

  /** Whatever the new write brings is kept; what it leaves out stays as it was. */
  function* repeat(entry: NewEntry, last: Row, index: FieldIndex, now: string): Work<void> {
    const id = numberOf(last, 'key');
    const metadata = presentMetadata(entry.metadata);
    const before = textOf(last, 'content_type');
    const type = entry.images.length > 0 ? 'multimodal' : before;
    yield* keepVersion(last, { text: false, images: entry.images.length > 0 }, now, dialect);
    if (type !== before) yield* counts.retype(textOf(last, 'thread_id'), 'multimodal');
    yield* query(
      `UPDATE ${entries} SET metadata = coalesce(?, metadata), content_type = ?,
         updated_at = ? WHERE key = ?`,
      ...[jsonOf(metadata), type, now, id],
    );
    if (metadata !== undefined) yield* parts.writeFields(id, metadata, index);
    if (entry.tags.length > 0) yield* parts.writeTags(id, entry.tags);
    if (entry.images.length > 0) yield* parts.writeImages(id, entry.images);
    if (entry.summaryWanted && optionalTextOf(last, 'summary') === undefined) yield* parts.wantSummary(id);
  }

  function* updateOne(update: EntryUpdate, index: FieldIndex, now: string): Work<UpdateOutcome> {
    const { id } = update;
    const [row] = yield* query(
      `SELECT * FROM ${entries} WHERE key = ? AND deleted_at IS NULL ${dialect.forUpdate}`,
      id,
    );
    if (row === undefined) return { id, found: false };
    const metadata = newMetadata(update, row);
    yield* keepVersion(row, { text: update.text !== undefined, images: update.images !== undefined }, now, dialect);
    if (update.text !== undefined) yield* writeText(id, storable(update.text), update.summaryWanted === true);
    if (metadata !== undefined) {
      const present = presentMetadata(metadata);
      yield* query(`UPDATE ${entries} SET metadata = ? WHERE key = ?`, jsonOf(present), id);
      yield* parts.writeFields(id, present, index);
    }
    if (update.tags !== undefined) yield* parts.writeTags(id, update.tags);
    // The schema allows no others.
    const before = textOf(row, 'content_type') as ContentType;
    const type = update.images === undefined ? before : contentType(update.images.length);
    if (update.images !== undefined) yield* parts.writeImages(id, update.images);
    if (type !== before) yield* counts.retype(textOf(row, 'thread_id'), type);
    yield* query(`UPDATE ${entries} SET content_type = ?, updated_at = ? WHERE key = ?`, type, now, id);
    const hadSummary = optionalTextOf(row, 'summary') !== undefined;
    return { id, found: true, hadSummary, contentTypeChanged: type !== before };
  }

  /** The summary goes with the text that it was made of. */
  function* writeText(id: number, text: string, summaryWanted: boolean): Work<void> {
    yield* query(
      `UPDATE ${entries} SET text_content = ?, text_hash = ?, summary = NULL WHERE key = ?`,
      ...[text, hashOf(text), id],
    );
    yield* summaryWanted ? parts.wantSummary(id) : parts.dropSummary(id);
    yield* parts.writeWords(id, text);
  }
}

function newMetadata(update: EntryUpdate, row: Row): Metadata | undefined {
  if (update.metadataPatch === undefined) return update.metadata;
  const stored = optionalTextOf(row, 'metadata');
  const merged = mergePatch(stored === undefined ? {} : JSON.parse(stored), update.metadataPatch);
  // Each patch is small, but many of them need not be.
  if (JSON.stringify(merged).length <= metadataUnitsMax) return merged;
  throw new CarrelError('invalid_arguments', 'metadata may have 1 MiB as JSON, and with this patch it would have more');
}

/** `place`: in a batch, of which nothing is done then. */
function notFound(id: number, place: number | undefined): CarrelError {
  const message = `Context entry with ID ${id} not found`;
  if (place === undefined) return new CarrelError('entry_not_found', message, { data: { context_id: id } });
  return new CarrelError('entry_not_found', `${message} (index ${place}); nothing was changed`, {
    data: { context_id: id, index: place },
  });
}

/** An empty object says as much as none. */
function presentMetadata(metadata: Metadata | undefined): Metadata | undefined {
  return metadata !== undefined && Object.keys(metadata).length > 0 ? metadata : undefined;
}

function jsonOf(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata);
}

function contentType(images: number): ContentType {
  return images > 0 ? 'multimodal' : 'text';
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
