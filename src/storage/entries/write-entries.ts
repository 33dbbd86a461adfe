import { daysBefore } from '../../base/days-before.ts';
import { CarrelError } from '../../base/errors.ts';
import { textHash } from '../../base/text-hash.ts';
import type { ColumnType, Statements } from '../dialect.ts';
import { lockAll, once } from '../idempotency.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../rows.ts';
import { allOf } from '../statements.ts';
import { storable } from '../storable.ts';
import {
  type ContentType,
  type Metadata,
  metadataOf,
  metadataUnitsMax,
  type NewEntry,
  type NewImage,
  restorableDays,
  type Source,
  type ThreadScope,
  type WriteRequest,
} from './entry.ts';
import { storeVersion } from './entry-history.ts';
import {
  addWords,
  fieldInserts,
  replaceWords,
  tagInserts,
  writeFields,
  writeImages,
  writeTags,
} from './entry-parts.ts';
import { createFieldIndex, type FieldIndex } from './field-index.ts';
import { inVisibleThreads } from './filter-condition.ts';
import { readFieldNames } from './indexed-fields.ts';
import { mergePatch } from './metadata.ts';

/** The last entry that one source (user or agent) added to a thread. */
interface Turn {
  /** 0 until the entry is written. */
  id: number;
  readonly textHash: string;
  /** Later turns have higher numbers. */
  readonly order: number;
}

interface StoreRequest extends WriteRequest {
  readonly entries: readonly NewEntry[];
}

export interface StoreOutcome {
  readonly id: number;
  readonly threadId: string;
  /** True if the last entry was updated instead, because this one repeated it. */
  readonly repeated: boolean;
  /** True if the entry already had a summary, which stays. */
  readonly summaryKept: boolean;
}

/** Stores entries in order. If an entry repeats the last one of its thread and source, that one is updated instead. */
export async function storeEntries(db: Statements, { entries, idempotency }: StoreRequest): Promise<StoreOutcome[]> {
  return once(db, idempotency, async () => {
    const hasMetadata = entries.some(({ metadata }) => metadata !== undefined);
    const index = await fieldIndex(db, hasMetadata);
    const threads = [...new Set(entries.map(({ threadId }) => storable(threadId)))];
    await lockThreads(db, threads);
    const last = await lastTurns(db, threads);
    const pending: { entry: NewEntry; turn: Turn }[] = [];
    const flush = async () => {
      const added = pending.splice(0);
      const ids = await addEntries(
        db,
        added.map(({ entry }) => entry),
        index,
      );
      for (const [at, { turn }] of added.entries()) turn.id = ids[at] ?? 0;
    };
    const outcomes: (Omit<StoreOutcome, 'id'> & { readonly turn: Turn })[] = [];
    for (const [position, entry] of entries.entries()) {
      const threadId = storable(entry.threadId);
      const turn = { id: 0, textHash: textHash(storable(entry.text)), order: firstNewOrder + position };
      const repeated = repeatedTurn(entry, turn, last);
      if (repeated === undefined) {
        pending.push({ entry, turn });
        last.set(turnKey(threadId, entry.source), turn);
        outcomes.push({ turn, threadId, repeated: false, summaryKept: false });
      } else {
        // The repeated entry may still be pending.
        await flush();
        const summaryKept = await updateRepeated(db, entry, repeated.id, index);
        outcomes.push({ turn: repeated, threadId, repeated: true, summaryKept });
      }
    }
    await flush();
    return outcomes.map(({ turn, ...outcome }) => ({ id: turn.id, ...outcome }));
  });
}

interface UpdateRequest extends WriteRequest, ThreadScope {
  readonly updates: readonly EntryUpdate[];
  readonly allOrNothing: boolean;
}

/** Undefined parts stay as they are. */
export interface EntryUpdate {
  readonly id: number;
  readonly text?: string | undefined;
  /** True to request a summary of the new `text`. The old summary is removed in any case. */
  readonly needsSummary?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
  /** A merge patch for the metadata (RFC 7396). */
  readonly metadataPatch?: Metadata | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly images?: readonly NewImage[] | undefined;
}

export type UpdateOutcome =
  | { readonly id: number; readonly found: false }
  | {
      readonly id: number;
      readonly found: true;
      readonly hadSummary: boolean;
    };

/** Updates entries in order. With `allOrNothing`, an unknown id throws `entry_not_found`. */
export async function updateEntries(
  db: Statements,
  { updates, allOrNothing, idempotency, ...scope }: UpdateRequest,
): Promise<UpdateOutcome[]> {
  return once(db, idempotency, async () => {
    const hasMetadata = updates.some(({ metadata, metadataPatch }) => metadata ?? metadataPatch);
    const index = await fieldIndex(db, hasMetadata);
    const outcomes: UpdateOutcome[] = [];
    for (const [position, update] of updates.entries()) {
      const outcome = await updateOne(db, update, index, scope);
      if (!outcome.found && allOrNothing) throw notFound(update.id, updates.length > 1 ? position : undefined);
      outcomes.push(outcome);
    }
    await db.query('DELETE FROM context_versions WHERE replaced_at < ?', [daysBefore(db.now, restorableDays)]);
    return outcomes;
  });
}

/**
 * Locks threads before entries are added, removed or restored. All threads share 256 locks, because PostgreSQL's lock table is too
 * small for one lock per thread. To avoid deadlocks, lock threads before rows.
 */
export async function lockThreads(db: Statements, threadIds: readonly string[]): Promise<void> {
  const names = threadIds.map((threadId) => `threads ${textHash(threadId).slice(0, 2)}`);
  await lockAll(db, [...new Set(names)]);
}

/** Reads which fields are indexed, and locks that setting until the transaction ends. */
export async function fieldIndex(db: Statements, isNeeded: boolean): Promise<FieldIndex> {
  return createFieldIndex(isNeeded ? await readFieldNames(db, db.dialect.forShare) : []);
}

function turnKey(threadId: string, source: Source): string {
  return `${source} ${threadId}`;
}

/** First `order` of new entries. The `order` of a stored entry is its key, which is lower. */
const firstNewOrder = 2 ** 52;

async function lastTurns(db: Statements, threads: readonly string[]): Promise<Map<string, Turn>> {
  const { texts } = db.dialect;
  const last = `(SELECT max(e.key) FROM context_entries e WHERE e.thread_id = t.thread_id AND e.source = s.source
    AND e.deleted_at IS NULL)`;
  const rows = await db.query(
    `WITH t (thread_id) AS (${texts}), s (source) AS (VALUES ('user'), ('agent'))
      SELECT o.key, o.thread_id, o.source, o.text_hash FROM context_entries o
      WHERE o.key IN (SELECT ${last} FROM t CROSS JOIN s)`,
    [{ list: threads }],
  );
  return new Map(
    rows.map((row) => {
      const id = numberOf(row, 'key');
      // The cast is safe: the schema allows no other values.
      const key = turnKey(textOf(row, 'thread_id'), textOf(row, 'source') as Source);
      return [key, { id, textHash: textOf(row, 'text_hash'), order: id }];
    }),
  );
}

/**
 * Returns the last entry of the same thread and source if it has the same text and no answer followed. The agent is then probably
 * retrying. Entries with an explicit time never count as repeated.
 */
function repeatedTurn(entry: NewEntry, turn: Turn, last: ReadonlyMap<string, Turn>): Turn | undefined {
  const threadId = storable(entry.threadId);
  const previous = last.get(turnKey(threadId, entry.source));
  if (entry.createdAt !== undefined || previous?.textHash !== turn.textHash) return undefined;
  const answer = last.get(turnKey(threadId, entry.source === 'user' ? 'agent' : 'user'));
  return (answer?.order ?? 0) < previous.order ? previous : undefined;
}

const columns =
  'thread_id, source, content_type, text_content, text_hash, metadata, summary, created_at, updated_at, summary_due';
const types = columns.split(', ').map((column): ColumnType => (column === 'summary_due' ? 'integer' : 'text'));

/** Adds entries and returns their ids. `keys` are explicit ids, ascending. */
export async function addEntries(
  db: Statements,
  entries: readonly NewEntry[],
  index: FieldIndex,
  keys?: readonly number[],
): Promise<number[]> {
  const { dialect } = db;
  const into = keys === undefined ? `(${columns})` : `(key, ${columns}) ${dialect.keys.clause}`;
  const ids: number[] = [];
  for (let first = 0; first < entries.length; first += dialect.rowsPerInsert) {
    const batch = entries.slice(first, first + dialect.rowsPerInsert).map((entry, at) => {
      const row = rowOf(db, entry);
      return keys === undefined ? row : [keys[first + at] ?? 0, ...row];
    });
    const { sql, values } = dialect.rows(keys === undefined ? types : ['bigint', ...types], batch);
    const rows = await db.query(`INSERT INTO context_entries ${into} ${sql} RETURNING key`, values);
    // RETURNING has no defined order, but keys ascend in the order of the rows.
    ids.push(...rows.map((row) => numberOf(row, 'key')).sort((a, b) => a - b));
  }
  const added = entries.map((entry, at) => ({ ...entry, id: ids[at] ?? 0, text: storable(entry.text) }));
  for (const { id, images } of added) if (images.length > 0) await writeImages(db, id, images);
  if (added.length > 0) {
    await addWords(db, added, [...tagInserts(db, added), ...fieldInserts(db, added, index)]);
  }
  return ids;
}

function rowOf(db: Statements, entry: NewEntry): (string | number | null)[] {
  const text = storable(entry.text);
  const createdAt = entry.createdAt ?? db.now;
  return [
    ...[storable(entry.threadId), entry.source, contentType(entry.images.length), text, textHash(text)],
    ...[jsonOf(entry.metadata), entry.summary ?? null, createdAt, entry.updatedAt ?? createdAt],
    entry.needsSummary ? 1 : 0,
  ];
}

/** Updates the repeated entry. Omitted parts stay as they are. Returns true if the entry already has a summary. */
async function updateRepeated(db: Statements, entry: NewEntry, id: number, index: FieldIndex): Promise<boolean> {
  const { metadata } = entry;
  const tags = entry.tags.length > 0 ? entry.tags : undefined;
  const images = entry.images.length > 0 ? entry.images : undefined;
  const outcome = await updateOne(db, { id, metadata, tags, images }, index, {});
  const hasSummary = outcome.found && outcome.hadSummary;
  if (entry.needsSummary && !hasSummary) {
    await db.query('UPDATE context_entries SET summary_due = 1 WHERE key = ?', [id]);
  }
  return hasSummary;
}

async function updateOne(
  db: Statements,
  update: EntryUpdate,
  index: FieldIndex,
  scope: ThreadScope,
): Promise<UpdateOutcome> {
  const { id, text, tags, images } = update;
  const { forUpdate } = db.dialect;
  const { sql, values } = allOf([
    { sql: 'o.key = ? AND o.deleted_at IS NULL', values: [id] },
    ...inVisibleThreads(scope, db.dialect),
  ]);
  const [row] = await db.query(`SELECT * FROM context_entries o WHERE ${sql} ${forUpdate}`, values);
  if (row === undefined) return { id, found: false };
  const metadata = newMetadata(update, row);
  // The cast is safe: the schema allows no other values.
  const before = textOf(row, 'content_type') as ContentType;
  const type = images === undefined ? before : contentType(images.length);
  await storeVersion(db, row, { text: text !== undefined, images: images !== undefined });
  if (text !== undefined) await writeText(db, id, storable(text), update.needsSummary === true);
  if (metadata !== undefined) await writeFields(db, id, metadata, index);
  if (tags !== undefined) await writeTags(db, id, tags);
  if (images !== undefined) await writeImages(db, id, images);
  await db.query(
    `UPDATE context_entries SET metadata = coalesce(?, metadata), content_type = ?, updated_at = ? WHERE key = ?`,
    [jsonOf(metadata), type, db.now, id],
  );
  return { id, found: true, hadSummary: optionalTextOf(row, 'summary') !== undefined };
}

/** Replaces the text of an entry and removes the summary of the old text. */
async function writeText(db: Statements, id: number, text: string, needsSummary: boolean): Promise<void> {
  await db.query(
    `UPDATE context_entries SET text_content = ?, text_hash = ?, summary = NULL, summary_due = ? WHERE key = ?`,
    [text, textHash(text), needsSummary ? 1 : 0, id],
  );
  await replaceWords(db, id, text);
}

function newMetadata(update: EntryUpdate, row: Row): Metadata | undefined {
  if (update.metadataPatch === undefined) return update.metadata;
  const merged = mergePatch(metadataOf(row) ?? {}, update.metadataPatch);
  // Each patch is limited, but many patches could add up.
  const size = JSON.stringify(merged).length;
  if (size <= metadataUnitsMax) return merged;
  throw new CarrelError(
    'invalid_arguments',
    `metadata would have ${size} characters as JSON with this patch; the limit is ${metadataUnitsMax}`,
  );
}

/** Creates the error for an unknown entry. `position` is its index in a batch. */
function notFound(id: number, position: number | undefined): CarrelError {
  const message = `Context entry with ID ${id} not found`;
  if (position === undefined) return new CarrelError('entry_not_found', message, { data: { context_id: id } });
  return new CarrelError('entry_not_found', `${message} (index ${position}); nothing was changed`, {
    data: { context_id: id, index: position },
  });
}

function jsonOf(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata);
}

function contentType(images: number): ContentType {
  return images > 0 ? 'multimodal' : 'text';
}
