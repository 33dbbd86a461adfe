import assert from 'node:assert/strict';
import { daysBefore } from '../../base/days-before.ts';
import { CarrelError } from '../../base/errors.ts';
import { idsHash } from '../../base/text-hash.ts';
import type { Dialect, Statements } from '../dialect.ts';
import { once } from '../idempotency.ts';
import { batchesOf, field, numberOf, type RecordOf, type Row, recordOf, type SqlFragment, textOf } from '../rows.ts';
import { allOf, readPage, writeSetting } from '../statements.ts';
import { storable } from '../storable.ts';
import { entryWords, removeWords } from '../words/word-indexes.ts';
import { restorableDays, type Source, type ThreadScope, type WriteRequest } from './entry.ts';
import { addWords } from './entry-parts.ts';
import { columnConditions, inVisibleThreads, isLive } from './filter-condition.ts';
import { lockThreads } from './write-entries.ts';

/** Max ids and max threads listed in an answer. */
const listedMax = 100;

/** Entries per UPDATE. The table has a trigger whose statements PostgreSQL plans for few rows; that plan is slow for many. */
const changedAtOnce = 25;

/** Selects entries that meet all criteria that are set. At least one of `ids`, `threadIds` and `olderThanDays` is required. */
interface RemoveRequest extends WriteRequest, ThreadScope {
  readonly ids?: readonly number[] | undefined;
  readonly threadIds?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly olderThanDays?: number | undefined;
  /** True to only report what would be removed. */
  readonly dryRun: boolean;
  /** Hash from a dry run. If the selection has changed since, nothing is removed. */
  readonly onlyHash?: string | undefined;
}

export interface RemoveOutcome {
  readonly count: number;
  /** Ids of the removed entries, ascending; only the first `listedMax`. */
  readonly ids: readonly number[];
  /** Hash of all ids. Only set in a dry run. */
  readonly hash?: string;
  /** Requested threads that have no entries. */
  readonly missingThreads?: readonly string[];
}

/** Removes entries, so that no read returns them. They can be restored until they are purged. */
export async function removeEntries(db: Statements, request: RemoveRequest): Promise<RemoveOutcome> {
  const { sql, values } = removeCondition(request, db.now, db.dialect);
  const select = () => db.query(`SELECT o.key, o.thread_id FROM context_entries o WHERE ${sql} ORDER BY o.key`, values);
  if (request.dryRun) {
    const ids = idsOf(await select());
    return { ...outcome(ids, await missingThreads(db, request)), hash: idsHash(ids) };
  }
  return once(db, request.idempotency, async () => {
    await lockThreads(db, threadsOf(await select()));
    // Read again under the lock, because another transaction may have changed the entries meanwhile.
    const rows = await select();
    const missing = await missingThreads(db, request);
    const ids = idsOf(rows);
    if (request.onlyHash !== undefined && idsHash(ids) !== request.onlyHash) throw selectionChanged(ids.length);
    for (const list of batchesOf(ids, changedAtOnce)) {
      await db.query(`UPDATE context_entries SET deleted_at = ? WHERE key IN (${db.dialect.integers})`, [
        db.now,
        { list },
      ]);
    }
    await removeWords(db, entryWords, ids);
    await purge(db);
    return outcome(ids, missing);
  });
}

interface RestoreRequest extends WriteRequest, ThreadScope {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
}

export async function restoreEntries(
  db: Statements,
  { ids, threadId, idempotency, ...scope }: RestoreRequest,
): Promise<{ ids: number[] }> {
  return once(db, idempotency, async () => {
    const filter = threadId === undefined ? { ids: ids ?? [], ...scope } : { threadId, ...scope };
    const { sql, values } = allOf([...columnConditions(filter, db.dialect), restorableCondition(db)]);
    const from = `context_entries o WHERE ${sql} ORDER BY o.key`;
    const select = () => db.query(`SELECT o.key, o.thread_id, o.text_content FROM ${from}`, values);
    await lockThreads(db, threadsOf(await select()));
    const rows = await select();
    for (const batch of batchesOf(rows, changedAtOnce)) await restoreBatch(db, batch);
    return { ids: idsOf(rows) };
  });
}

async function restoreBatch(db: Statements, rows: readonly Row[]): Promise<void> {
  const { integers } = db.dialect;
  const ids = idsOf(rows);
  await db.query(
    `INSERT INTO context_absences (entry, removed_at, restored_at)
      SELECT key, deleted_at, ? FROM context_entries WHERE key IN (${integers})`,
    [db.now, { list: ids }],
  );
  await db.query(`UPDATE context_entries SET deleted_at = NULL WHERE key IN (${integers})`, [{ list: ids }]);
  await removeWords(db, entryWords, ids);
  await addWords(
    db,
    rows.map((row) => ({ id: numberOf(row, 'key'), text: textOf(row, 'text_content') })),
  );
}

/** Max characters of a deleted entry's text in a list. */
const listedChars = 300;

const deletedFields = {
  id: field.number('key'),
  threadId: field.text('thread_id'),
  /** The first `listedChars` characters. */
  text: field.text('text'),
  createdAt: field.text('created_at'),
  deletedAt: field.text('deleted_at'),
};

/** Lists entries that can be restored, last deleted first. */
export async function deletedEntries(
  db: Statements,
  { limit, offset, ...scope }: ThreadScope & { readonly limit: number; readonly offset: number },
): Promise<{ entries: RecordOf<typeof deletedFields>[]; total: number }> {
  const { sql, values } = allOf([restorableCondition(db), ...inVisibleThreads(scope, db.dialect)]);
  const from = { sql: `context_entries o WHERE ${sql}`, values };
  const columns = `o.key, o.thread_id, substr(o.text_content, 1, ${listedChars}) AS text, o.created_at, o.deleted_at`;
  const { rows, total } = await readPage(db, columns, from, 'o.deleted_at DESC, o.key DESC', { limit, offset });
  return { entries: rows.map((row) => recordOf(deletedFields, row)), total };
}

/** Purges entries that are deleted already. Returns their number. */
export async function purgeEntries(
  db: Statements,
  { ids, ...scope }: ThreadScope & { readonly ids: readonly number[] },
): Promise<number> {
  const { sql, values } = allOf([
    { sql: 'o.deleted_at IS NOT NULL', values: [] },
    ...columnConditions({ ids, ...scope }, db.dialect),
  ]);
  const rows = await db.query(
    `DELETE FROM context_entries WHERE key IN (SELECT o.key FROM context_entries o WHERE ${sql}) RETURNING key`,
    values,
  );
  return rows.length;
}

function restorableCondition({ now }: Statements): SqlFragment {
  return { sql: 'o.deleted_at >= ?', values: [daysBefore(now, restorableDays)] };
}

/** Max entries purged per removal, so that a removal stays fast. */
const purgedMax = 10_000;

/** Purges entries that can no longer be restored, starting with those removed longest ago. */
async function purge(db: Statements): Promise<void> {
  const limit = daysBefore(db.now, restorableDays);
  const purged = await db.query(
    `DELETE FROM context_entries WHERE key IN
      (SELECT key FROM context_entries WHERE deleted_at < ? ORDER BY deleted_at, key LIMIT ${purgedMax})
      RETURNING deleted_at`,
    [limit],
  );
  const last = purged.map((row) => textOf(row, 'deleted_at')).reduce((a, b) => (a > b ? a : b), '');
  if (last !== '') await writeSetting(db, 'purged_to', last);
  await db.query('DELETE FROM idempotency_keys WHERE created_at < ?', [limit]);
}

function selectionChanged(count: number): CarrelError {
  return new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is now ${count} entries. Nothing was deleted. Repeat the call to ask the user again.`,
  );
}

function idsOf(rows: readonly Row[]): number[] {
  return rows.map((row) => numberOf(row, 'key'));
}

function threadsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map((row) => textOf(row, 'thread_id')))];
}

function outcome(ids: readonly number[], missing: readonly string[]): RemoveOutcome {
  const listed = missing.length > 0 ? { missingThreads: missing.slice(0, listedMax) } : {};
  return { count: ids.length, ids: ids.slice(0, listedMax), ...listed };
}

async function missingThreads(db: Statements, { threadIds, ...scope }: RemoveRequest): Promise<string[]> {
  if (threadIds === undefined) return [];
  const { sql, values } = allOf([
    isLive,
    { sql: `o.thread_id IN (${db.dialect.texts})`, values: [{ list: threadIds.map(storable) }] },
    ...inVisibleThreads(scope, db.dialect),
  ]);
  const from = `context_entries o WHERE ${sql}`;
  const rows = await db.query(`SELECT DISTINCT o.thread_id FROM ${from}`, values);
  const existing = new Set(threadsOf(rows));
  return threadIds.filter((threadId) => !existing.has(storable(threadId)));
}

function removeCondition(request: RemoveRequest, now: string, dialect: Dialect): SqlFragment {
  const { ids, threadIds, olderThanDays } = request;
  assert(ids !== undefined || threadIds !== undefined || olderThanDays !== undefined, 'would remove everything');
  const threads = { sql: `o.thread_id IN (${dialect.texts})`, values: [{ list: threadIds?.map(storable) ?? [] }] };
  const age = { sql: 'o.created_at < ?', values: [daysBefore(now, olderThanDays ?? 0)] };
  return allOf([
    isLive,
    ...columnConditions(request, dialect),
    ...(threadIds === undefined ? [] : [threads]),
    ...(olderThanDays === undefined ? [] : [age]),
  ]);
}
