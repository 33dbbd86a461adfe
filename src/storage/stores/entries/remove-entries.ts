import assert from 'node:assert/strict';
import { daysBefore } from '../../../base/days-before.ts';
import { CarrelError } from '../../../base/errors.ts';
import { idsHash } from '../../../base/text-hash.ts';
import {
  keptDays,
  type RemoveOutcome,
  type RemoveRequest,
  type RestoreOutcome,
  type RestoreRequest,
} from '../../contracts/entries.ts';
import type { Dialect, Statements } from '../../dialect.ts';
import { type ListValue, numberOf, type Row, type SqlValue, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { once } from '../idempotency.ts';
import { portionsOf } from '../portions.ts';
import { entryWords } from '../words/word-indexes.ts';
import { removeWords } from '../words/write-words.ts';
import { addWords } from './entry-parts.ts';
import { amongThreads } from './filter-condition.ts';
import { writeSetting } from './indexed-fields.ts';
import { recountThreads } from './thread-counts.ts';
import { lockThreads } from './thread-locks.ts';

/** Ids that an answer names. */
const namedMax = 100;

export async function removeEntries(on: Statements, request: RemoveRequest): Promise<RemoveOutcome> {
  const { sql, values } = removeCondition(request, on.now, on.dialect);
  const select = () =>
    on.query(
      `SELECT o.key, o.thread_id FROM ${on.dialect.schema}context_entries o WHERE ${sql} ORDER BY o.key`,
      values,
    );
  if (request.dryRun) {
    const ids = idsOf(await select());
    return { ...outcome(ids, await missingThreads(on, request)), hash: idsHash(ids) };
  }
  return once(on, request.idempotency, async () => {
    await lockThreads(on, threadsOf(await select()));
    // Read again, because somebody may have had the lock.
    const rows = await select();
    const missing = await missingThreads(on, request);
    const ids = idsOf(rows);
    if (request.onlyHash !== undefined && idsHash(ids) !== request.onlyHash) throw changedMeanwhile(ids.length);
    for (const list of portionsOf(ids)) {
      await on.query(
        `UPDATE ${on.dialect.schema}context_entries SET deleted_at = ? WHERE key IN (${on.dialect.integers})`,
        [on.now, { list }],
      );
    }
    await removeWords(on, entryWords, ids);
    await recountThreads(on, threadsOf(rows));
    await purge(on);
    return outcome(ids, missing);
  });
}

export async function restoreEntries(
  on: Statements,
  { ids, threadId, idempotency, ...scope }: RestoreRequest,
): Promise<RestoreOutcome> {
  return once(on, idempotency, async () => {
    const wanted = threadId === undefined ? `key IN (${on.dialect.integers})` : 'thread_id = ?';
    const among = amongThreads(scope, on.dialect);
    const select = () =>
      on.query(
        `SELECT key, thread_id, deleted_at, text_content FROM ${on.dialect.schema}context_entries o
          WHERE ${[wanted, ...among.map(({ sql }) => sql)].join(' AND ')} AND deleted_at >= ? ORDER BY key`,
        [
          threadId === undefined ? { list: ids ?? [] } : storable(threadId),
          ...among.flatMap(({ values }) => values),
          daysBefore(on.now, keptDays),
        ],
      );
    await lockThreads(on, threadsOf(await select()));
    const rows = await select();
    for (const some of portionsOf(rows)) await bringBack(on, some);
    await recountThreads(on, threadsOf(rows));
    return { ids: idsOf(rows) };
  });
}

async function bringBack(on: Statements, rows: readonly Row[]): Promise<void> {
  const { schema, integers } = on.dialect;
  const ids = idsOf(rows);
  await on.query(
    `INSERT INTO ${schema}context_absences (entry, removed_at, restored_at)
      SELECT key, deleted_at, ? FROM ${schema}context_entries WHERE key IN (${integers})`,
    [on.now, { list: ids }],
  );
  await on.query(`UPDATE ${schema}context_entries SET deleted_at = NULL WHERE key IN (${integers})`, [{ list: ids }]);
  await removeWords(on, entryWords, ids);
  await addWords(
    on,
    rows.map((row) => ({ entry: numberOf(row, 'key'), text: textOf(row, 'text_content') })),
  );
}

/** Entries that go for good with one removal. It must not take long because there were many a month ago. */
const purgedMax = 10_000;

/** What nobody can bring back any more goes for good, with everything that belongs to it: the longest removed first. */
async function purge(on: Statements): Promise<void> {
  const { schema } = on.dialect;
  const limit = daysBefore(on.now, keptDays);
  const gone = await on.query(
    `DELETE FROM ${schema}context_entries WHERE key IN
      (SELECT key FROM ${schema}context_entries WHERE deleted_at < ? ORDER BY deleted_at, key LIMIT ${purgedMax})
      RETURNING deleted_at`,
    [limit],
  );
  const last = gone.map((row) => textOf(row, 'deleted_at')).reduce((a, b) => (a > b ? a : b), '');
  if (last !== '') await writeSetting(on, 'purged_to', last);
  await on.query(`DELETE FROM ${schema}idempotency_keys WHERE created_at < ?`, [limit]);
}

function changedMeanwhile(count: number): CarrelError {
  return new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is ${count} entries now. Nothing was deleted. Repeat the call to have the user asked about them.`,
  );
}

function idsOf(rows: readonly Row[]): number[] {
  return rows.map((row) => numberOf(row, 'key'));
}

function threadsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map((row) => textOf(row, 'thread_id')))];
}

function outcome(ids: readonly number[], missing: readonly string[]): RemoveOutcome {
  const told = missing.length > 0 ? { missingThreads: missing.slice(0, namedMax) } : {};
  return { count: ids.length, ids: ids.slice(0, namedMax), ...told };
}

async function missingThreads(on: Statements, { threadIds, amongThreads: visible }: RemoveRequest): Promise<string[]> {
  if (threadIds === undefined) return [];
  const rows = await on.query(
    `SELECT t.thread_id FROM ${on.dialect.schema}context_threads t WHERE t.thread_id IN (${on.dialect.texts})`,
    [{ list: threadIds.map(storable) }],
  );
  const known = new Set(threadsOf(rows).filter((thread) => visible?.map(storable).includes(thread) ?? true));
  return threadIds.filter((threadId) => !known.has(storable(threadId)));
}

function removeCondition(request: RemoveRequest, now: string, dialect: Dialect) {
  const { ids, threadIds, source, olderThanDays } = request;
  assert(ids !== undefined || threadIds !== undefined || olderThanDays !== undefined, 'would remove everything');
  const parts = ['o.deleted_at IS NULL'];
  const values: (SqlValue | ListValue)[] = [];
  if (ids !== undefined) {
    parts.push(`o.key IN (${dialect.integers})`);
    values.push({ list: ids });
  }
  if (threadIds !== undefined) {
    parts.push(`o.thread_id IN (${dialect.texts})`);
    values.push({ list: threadIds.map(storable) });
  }
  for (const among of amongThreads(request, dialect)) {
    parts.push(among.sql);
    values.push(...among.values);
  }
  if (source !== undefined) {
    parts.push('o.source = ?');
    values.push(source);
  }
  if (olderThanDays !== undefined) {
    parts.push('o.created_at < ?');
    values.push(daysBefore(now, olderThanDays));
  }
  return { sql: parts.join(' AND '), values };
}
