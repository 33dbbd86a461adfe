import { daysBefore } from '../../../base/days-before.ts';
import { CarrelError } from '../../../base/errors.ts';
import { textHash } from '../../../base/text-hash.ts';
import {
  type AmongThreads,
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
import type { ContentType } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { lockAll, once, threadLock } from '../idempotency.ts';
import { keepVersion } from './entry-history.ts';
import {
  addFields,
  addTags,
  addWords,
  dropSummary,
  replaceWords,
  wantSummary,
  writeFields,
  writeImages,
  writeTags,
} from './entry-parts.ts';
import { allOf, amongThreads } from './filter-condition.ts';
import { createFieldIndex, type FieldIndex, readFieldNames } from './indexed-fields.ts';
import { mergePatch } from './merge-patch.ts';
import { parseMetadata } from './metadata-fields.ts';
import { type AddedEntry, countAdded, countRetyped } from './thread-counts.ts';

/** An entry whose row is written, and what is still to be written of it. */
export interface Added extends AddedEntry {
  readonly text: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata | undefined;
}

export async function storeEntries(
  on: Statements,
  { entries: fresh, idempotency }: StoreRequest,
): Promise<StoreOutcome[]> {
  return once(on, idempotency, async () => {
    const index = await fieldIndex(
      on,
      fresh.some(({ metadata }) => metadata !== undefined),
    );
    await lockAll(on, [...new Set(fresh.map(({ threadId }) => threadLock(storable(threadId))))]);
    const added: Added[] = [];
    const outcomes: StoreOutcome[] = [];
    for (const entry of fresh) outcomes.push(await storeOne(on, entry, index, added));
    await writeParts(on, added, index);
    return outcomes;
  });
}

export async function updateEntries(
  on: Statements,
  { updates, allOrNothing, idempotency, ...scope }: UpdateRequest,
): Promise<UpdateOutcome[]> {
  return once(on, idempotency, async () => {
    const index = await fieldIndex(
      on,
      updates.some(({ metadata, metadataPatch }) => metadata ?? metadataPatch),
    );
    const outcomes: UpdateOutcome[] = [];
    for (const [place, update] of updates.entries()) {
      const outcome = await updateOne(on, update, index, scope);
      if (!outcome.found && allOrNothing) throw notFound(update.id, updates.length > 1 ? place : undefined);
      outcomes.push(outcome);
    }
    await on.query(`DELETE FROM ${on.dialect.schema}context_versions WHERE replaced_at < ?`, [
      daysBefore(on.now, keptDays),
    ]);
    return outcomes;
  });
}

/** The fields that the index holds. Shared with other writers, and not to be changed while one of them writes. */
export async function fieldIndex(on: Statements, isNeeded: boolean): Promise<FieldIndex> {
  return createFieldIndex(isNeeded ? await readFieldNames(on, 'share') : []);
}

async function storeOne(on: Statements, entry: NewEntry, index: FieldIndex, added: Added[]): Promise<StoreOutcome> {
  const threadId = storable(entry.threadId);
  const text = storable(entry.text);
  // What comes from elsewhere with its own time is a record of the past, in which nothing repeats.
  const last = entry.createdAt === undefined ? await repeatedEntry(on, threadId, entry.source, text) : undefined;
  if (last === undefined) {
    const fresh = await insertEntry(on, entry);
    added.push(fresh);
    return { id: fresh.id, threadId, repeated: false, summaryKept: false };
  }
  // It may be one of those.
  await writeParts(on, added.splice(0), index);
  const id = numberOf(last, 'key');
  const kept = optionalTextOf(last, 'summary');
  await repeat(on, entry, last, index);
  return { id, threadId, repeated: true, summaryKept: kept !== undefined };
}

/**
 * The last entry of the same thread and source, if it has the same text and nobody has answered it since: an agent that
 * tries again. After an answer, the same words are a new turn of the conversation.
 */
async function repeatedEntry(on: Statements, threadId: string, source: string, text: string): Promise<Row | undefined> {
  const [last] = await on.query(
    `SELECT * FROM ${on.dialect.schema}context_entries WHERE thread_id = ? AND source = ? AND deleted_at IS NULL
      ORDER BY key DESC LIMIT 1`,
    [threadId, source],
  );
  if (last === undefined || textOf(last, 'text_hash') !== textHash(text)) return undefined;
  const [answer] = await on.query(
    `SELECT key FROM ${on.dialect.schema}context_entries WHERE thread_id = ? AND source <> ? AND key > ?
      AND deleted_at IS NULL LIMIT 1`,
    [threadId, source, numberOf(last, 'key')],
  );
  return answer === undefined ? last : undefined;
}

/** Its row, and what is few of. `key` where the id is not generated. */
export async function insertEntry(on: Statements, entry: NewEntry, key?: number): Promise<Added> {
  const { metadata } = entry;
  const [threadId, text] = [storable(entry.threadId), storable(entry.text)];
  const type = contentType(entry.images.length);
  const createdAt = entry.createdAt ?? on.now;
  const [row = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}context_entries (${key === undefined ? '' : 'key, '}thread_id, source, content_type,
      text_content, text_hash, metadata, summary, created_at, updated_at) ${key === undefined ? '' : on.dialect.keys.given}
      VALUES (${key === undefined ? '' : '?, '}?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      ...(key === undefined ? [] : [key]),
      threadId,
      entry.source,
      type,
      text,
      textHash(text),
      jsonOf(metadata),
      entry.summary ?? null,
      createdAt,
      entry.updatedAt ?? createdAt,
    ],
  );
  const id = numberOf(row, 'key');
  if (entry.summaryWanted) await wantSummary(on, id);
  if (entry.images.length > 0) await writeImages(on, id, entry.images);
  return { id, threadId, source: entry.source, type, createdAt, text, tags: entry.tags, metadata };
}

/** What belongs to new entries, of many in few statements. */
export async function writeParts(on: Statements, added: readonly Added[], index: FieldIndex): Promise<void> {
  if (added.length === 0) return;
  await countAdded(on, added);
  await addWords(
    on,
    added.map(({ id, text }) => ({ entry: id, text })),
  );
  await addTags(
    on,
    added.map(({ id, tags }) => ({ entry: id, tags })),
  );
  await addFields(
    on,
    added.flatMap(({ id, metadata }) => (metadata === undefined ? [] : [{ entry: id, metadata }])),
    index,
  );
}

/** Whatever the new write brings is kept; what it leaves out stays as it was. */
async function repeat(on: Statements, entry: NewEntry, last: Row, index: FieldIndex): Promise<void> {
  const id = numberOf(last, 'key');
  const { metadata } = entry;
  const before = textOf(last, 'content_type');
  const type = entry.images.length > 0 ? 'multimodal' : before;
  await keepVersion(on, last, { text: false, images: entry.images.length > 0 });
  if (type !== before) await countRetyped(on, textOf(last, 'thread_id'), 'multimodal');
  await on.query(
    `UPDATE ${on.dialect.schema}context_entries SET metadata = coalesce(?, metadata), content_type = ?, updated_at = ?
      WHERE key = ?`,
    [jsonOf(metadata), type, on.now, id],
  );
  if (metadata !== undefined) await writeFields(on, id, metadata, index);
  if (entry.tags.length > 0) await writeTags(on, id, entry.tags);
  if (entry.images.length > 0) await writeImages(on, id, entry.images);
  if (entry.summaryWanted && optionalTextOf(last, 'summary') === undefined) await wantSummary(on, id);
}

async function updateOne(
  on: Statements,
  update: EntryUpdate,
  index: FieldIndex,
  scope: AmongThreads,
): Promise<UpdateOutcome> {
  const { id } = update;
  const { sql, values } = allOf([
    { sql: 'o.key = ? AND o.deleted_at IS NULL', values: [id] },
    ...amongThreads(scope, on.dialect),
  ]);
  const [row] = await on.query(
    `SELECT * FROM ${on.dialect.schema}context_entries o WHERE ${sql} ${on.dialect.forUpdate}`,
    values,
  );
  if (row === undefined) return { id, found: false };
  const metadata = newMetadata(update, row);
  await keepVersion(on, row, { text: update.text !== undefined, images: update.images !== undefined });
  if (update.text !== undefined) await writeText(on, id, storable(update.text), update.summaryWanted === true);
  if (metadata !== undefined) {
    await on.query(`UPDATE ${on.dialect.schema}context_entries SET metadata = ? WHERE key = ?`, [jsonOf(metadata), id]);
    await writeFields(on, id, metadata, index);
  }
  if (update.tags !== undefined) await writeTags(on, id, update.tags);
  // The schema allows no others.
  const before = textOf(row, 'content_type') as ContentType;
  const type = update.images === undefined ? before : contentType(update.images.length);
  if (update.images !== undefined) await writeImages(on, id, update.images);
  if (type !== before) await countRetyped(on, textOf(row, 'thread_id'), type);
  await on.query(`UPDATE ${on.dialect.schema}context_entries SET content_type = ?, updated_at = ? WHERE key = ?`, [
    type,
    on.now,
    id,
  ]);
  const hadSummary = optionalTextOf(row, 'summary') !== undefined;
  return { id, found: true, hadSummary };
}

/** The summary goes with the text that it was made of. */
async function writeText(on: Statements, id: number, text: string, summaryWanted: boolean): Promise<void> {
  await on.query(
    `UPDATE ${on.dialect.schema}context_entries SET text_content = ?, text_hash = ?, summary = NULL WHERE key = ?`,
    [text, textHash(text), id],
  );
  await (summaryWanted ? wantSummary(on, id) : dropSummary(on, id));
  await replaceWords(on, id, text);
}

function newMetadata(update: EntryUpdate, row: Row): Metadata | undefined {
  if (update.metadataPatch === undefined) return update.metadata;
  const stored = optionalTextOf(row, 'metadata');
  const merged = mergePatch(stored === undefined ? {} : parseMetadata(stored), update.metadataPatch);
  // Each patch is small, but many of them need not be.
  const size = JSON.stringify(merged).length;
  if (size <= metadataUnitsMax) return merged;
  throw new CarrelError(
    'invalid_arguments',
    `metadata would have ${size} characters as JSON with this patch, and may have at most ${metadataUnitsMax}`,
  );
}

/** `place`: in a batch, of which nothing is done then. */
function notFound(id: number, place: number | undefined): CarrelError {
  const message = `Context entry with ID ${id} not found`;
  if (place === undefined) return new CarrelError('entry_not_found', message, { data: { context_id: id } });
  return new CarrelError('entry_not_found', `${message} (index ${place}); nothing was changed`, {
    data: { context_id: id, index: place },
  });
}

function jsonOf(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata);
}

function contentType(images: number): ContentType {
  return images > 0 ? 'multimodal' : 'text';
}
