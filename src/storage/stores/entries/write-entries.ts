import assert from 'node:assert/strict';
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
import type { ContentType, Source } from '../../contracts/entry-filter.ts';
import type { ColumnType, Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { once } from '../idempotency.ts';
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
import { lockThreads } from './thread-locks.ts';

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
    const threads = [...new Set(fresh.map(({ threadId }) => storable(threadId)))];
    await lockThreads(on, threads);
    const last = await lastTurns(on, threads);
    const waiting: Waiting[] = [];
    const outcomes: (() => StoreOutcome)[] = [];
    const flush = async () => writeWaiting(on, waiting.splice(0), index);
    for (const [position, entry] of fresh.entries()) {
      const turn = turnOf(entry, position);
      const same = isRepeated(entry, turn, last) ? last.get(turn.place) : undefined;
      if (same === undefined) {
        waiting.push({ entry, turn });
        last.set(turn.place, turn);
        outcomes.push(() => ({ id: turn.id, threadId: turn.threadId, repeated: false, summaryKept: false }));
        continue;
      }
      // It may be one of those.
      await flush();
      const summaryKept = await repeat(on, entry, same.id, index);
      outcomes.push(() => ({ id: same.id, threadId: turn.threadId, repeated: true, summaryKept }));
    }
    await flush();
    return outcomes.map((outcome) => outcome());
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

/** What one side of a thread's conversation said last. */
interface Turn {
  /** Of the thread and the side. */
  readonly place: string;
  readonly otherPlace: string;
  readonly threadId: string;
  readonly textHash: string;
  /** Which of two was later. */
  readonly order: number;
  /** Not known until it is written. */
  id: number;
}

interface Waiting {
  readonly entry: NewEntry;
  readonly turn: Turn;
}

const otherSide = { user: 'agent', agent: 'user' } as const;

function turnOf({ threadId: thread, source, text }: NewEntry, position: number): Turn {
  const threadId = storable(thread);
  return {
    ...{ place: `${source} ${threadId}`, otherPlace: `${otherSide[source]} ${threadId}` },
    ...{ threadId, textHash: textHash(storable(text)), id: 0 },
    // Behind all that are stored.
    order: 2 ** 52 + position,
  };
}

/** Of the threads, by place. */
async function lastTurns(on: Statements, threads: readonly string[]): Promise<Map<string, Turn>> {
  const { schema, texts } = on.dialect;
  const last = `(SELECT max(e.key) FROM ${schema}context_entries e WHERE e.thread_id = t.thread_id AND e.source = s.source
    AND e.deleted_at IS NULL)`;
  const rows = await on.query(
    `WITH t (thread_id) AS (${texts}), s (source) AS (VALUES ('user'), ('agent'))
      SELECT o.key, o.thread_id, o.source, o.text_hash FROM ${schema}context_entries o
      WHERE o.key IN (SELECT ${last} FROM t CROSS JOIN s)`,
    [{ list: threads }],
  );
  return new Map(
    rows.map((row): [string, Turn] => {
      const [threadId, id] = [textOf(row, 'thread_id'), numberOf(row, 'key')];
      // The schema allows no others.
      const source = textOf(row, 'source') as Source;
      const place = `${source} ${threadId}`;
      const otherPlace = `${otherSide[source]} ${threadId}`;
      return [place, { place, otherPlace, threadId, textHash: textOf(row, 'text_hash'), order: id, id }];
    }),
  );
}

/**
 * Whether the last entry of the same thread and source has the same text and nobody has answered it since: an agent that
 * tries again. After an answer, the same words are a new turn of the conversation. What comes from elsewhere with its own time
 * is a record of the past, in which nothing repeats.
 */
function isRepeated({ createdAt }: NewEntry, turn: Turn, last: ReadonlyMap<string, Turn>): boolean {
  const mine = last.get(turn.place);
  if (createdAt !== undefined || mine?.textHash !== turn.textHash) return false;
  return (last.get(turn.otherPlace)?.order ?? 0) < mine.order;
}

async function writeWaiting(on: Statements, waiting: readonly Waiting[], index: FieldIndex): Promise<void> {
  const added = await insertEntries(
    on,
    waiting.map(({ entry }) => entry),
  );
  waiting.forEach(({ turn }, place) => {
    turn.id = added[place]?.id ?? 0;
  });
  await writeParts(on, added, index);
}

const columns =
  'thread_id, source, content_type, text_content, text_hash, metadata, summary, created_at, updated_at' as const;
const types = columns.split(', ').map((): ColumnType => 'text');

/** Their rows, and what is few of. */
async function insertEntries(on: Statements, entries: readonly NewEntry[]): Promise<Added[]> {
  const { schema, rowsAtOnce } = on.dialect;
  const keys: number[] = [];
  for (let first = 0; first < entries.length; first += rowsAtOnce) {
    const some = entries.slice(first, first + rowsAtOnce).map((entry) => rowOf(on, entry));
    const { sql, values } = on.dialect.rows(types, some);
    const rows = await on.query(`INSERT INTO ${schema}context_entries (${columns}) ${sql} RETURNING key`, values);
    // In what order they come is not said.
    keys.push(...rows.map((row) => numberOf(row, 'key')).sort((a, b) => a - b));
  }
  const added: Added[] = [];
  for (const [place, entry] of entries.entries()) added.push(await addedEntry(on, entry, keys[place] ?? 0));
  return added;
}

/** Under an id that is given. */
export async function insertEntry(on: Statements, entry: NewEntry, key: number | undefined): Promise<Added> {
  if (key === undefined) {
    const [added] = await insertEntries(on, [entry]);
    assert(added);
    return added;
  }
  const { schema, keys } = on.dialect;
  const { sql, values } = on.dialect.rows(['bigint', ...types], [[key, ...rowOf(on, entry)]]);
  await on.query(`INSERT INTO ${schema}context_entries (key, ${columns}) ${keys.given} ${sql}`, values);
  return addedEntry(on, entry, key);
}

function rowOf(on: Statements, entry: NewEntry): (string | null)[] {
  const text = storable(entry.text);
  const createdAt = entry.createdAt ?? on.now;
  return [
    ...[storable(entry.threadId), entry.source, contentType(entry.images.length), text, textHash(text)],
    ...[jsonOf(entry.metadata), entry.summary ?? null, createdAt, entry.updatedAt ?? createdAt],
  ];
}

async function addedEntry(on: Statements, entry: NewEntry, id: number): Promise<Added> {
  if (entry.summaryWanted) await wantSummary(on, id);
  if (entry.images.length > 0) await writeImages(on, id, entry.images);
  return {
    ...{ id, threadId: storable(entry.threadId), source: entry.source, type: contentType(entry.images.length) },
    ...{ createdAt: entry.createdAt ?? on.now, text: storable(entry.text), tags: entry.tags, metadata: entry.metadata },
  };
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

/** Whatever the new write brings is kept; what it leaves out stays as it was. Whether there is a summary already. */
async function repeat(on: Statements, entry: NewEntry, id: number, index: FieldIndex): Promise<boolean> {
  const { schema, forUpdate } = on.dialect;
  // An update does not wait for the thread, only for the entry.
  const [last = {}] = await on.query(`SELECT * FROM ${schema}context_entries WHERE key = ? ${forUpdate}`, [id]);
  const { metadata } = entry;
  const before = textOf(last, 'content_type');
  const type = entry.images.length > 0 ? 'multimodal' : before;
  await keepVersion(on, last, { text: false, images: entry.images.length > 0 });
  if (type !== before) await countRetyped(on, textOf(last, 'thread_id'), 'multimodal');
  await on.query(
    `UPDATE ${schema}context_entries SET metadata = coalesce(?, metadata), content_type = ?, updated_at = ?
      WHERE key = ?`,
    [jsonOf(metadata), type, on.now, id],
  );
  if (metadata !== undefined) await writeFields(on, id, metadata, index);
  if (entry.tags.length > 0) await writeTags(on, id, entry.tags);
  if (entry.images.length > 0) await writeImages(on, id, entry.images);
  const hasSummary = optionalTextOf(last, 'summary') !== undefined;
  if (entry.summaryWanted && !hasSummary) await wantSummary(on, id);
  return hasSummary;
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
  if (metadata !== undefined) await writeFields(on, id, metadata, index);
  if (update.tags !== undefined) await writeTags(on, id, update.tags);
  // The schema allows no others.
  const before = textOf(row, 'content_type') as ContentType;
  const type = update.images === undefined ? before : contentType(update.images.length);
  if (update.images !== undefined) await writeImages(on, id, update.images);
  if (type !== before) await countRetyped(on, textOf(row, 'thread_id'), type);
  await on.query(
    `UPDATE ${on.dialect.schema}context_entries SET metadata = ?, content_type = ?, updated_at = ? WHERE key = ?`,
    [metadata === undefined ? (optionalTextOf(row, 'metadata') ?? null) : jsonOf(metadata), type, on.now, id],
  );
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
