import assert from 'node:assert/strict';
import {
  keptDays,
  type RemoveOutcome,
  type RemoveRequest,
  type RestoreOutcome,
  type RestoreRequest,
} from '../../contracts/entries.ts';
import { storable } from '../../contracts/notes.ts';
import type { Dialect } from '../../dialect.ts';
import { type ListValue, numberOf, type Row, type SqlValue, textOf } from '../../statements.ts';
import { createEntryParts } from './entry-parts.ts';
import { writeSetting } from './entry-settings.ts';
import { lockAll, once, threadLock } from './idempotency.ts';
import { createThreadCounts } from './thread-counts.ts';
import { query, type Work } from './work.ts';

export interface EntryRemovals {
  remove(request: RemoveRequest, now: string): Work<RemoveOutcome>;
  restore(request: RestoreRequest, now: string): Work<RestoreOutcome>;
}

/** Ids that an answer names. */
const namedMax = 100;

export function createEntryRemovals(dialect: Dialect): EntryRemovals {
  const entries = `${dialect.schema}context_entries`;
  const parts = createEntryParts(dialect);
  const counts = createThreadCounts(dialect);
  return {
    *remove(request, now) {
      const { sql, values } = removeCondition(request, now, dialect);
      const select = () => query(`SELECT o.key, o.thread_id FROM ${entries} o WHERE ${sql} ORDER BY o.key`, ...values);
      if (request.dryRun) return outcome(idsOf(yield* select()));
      return yield* once(request.idempotency, now, dialect, function* () {
        yield* lockThreads(yield* select());
        // Read again, because somebody may have had the lock.
        const rows = yield* select();
        const ids = idsOf(rows);
        yield* query(`UPDATE ${entries} SET deleted_at = ? WHERE key IN (${dialect.integers})`, now, { list: ids });
        yield* parts.removeWords(ids);
        yield* counts.recount(threadsOf(rows));
        yield* purge(now);
        return outcome(ids);
      });
    },
    restore: ({ ids, threadId, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const wanted = threadId === undefined ? `key IN (${dialect.integers})` : 'thread_id = ?';
        const select = () =>
          query(
            `SELECT key, thread_id, deleted_at, text_content FROM ${entries} WHERE ${wanted} AND deleted_at >= ?
             ORDER BY key`,
            ...[threadId === undefined ? { list: ids ?? [] } : storable(threadId), daysBefore(now, keptDays)],
          );
        yield* lockThreads(yield* select());
        const rows = yield* select();
        for (const row of rows) {
          const id = numberOf(row, 'key');
          yield* query(
            `INSERT INTO ${dialect.schema}context_absences (entry, removed_at, restored_at) VALUES (?, ?, ?)`,
            ...[id, textOf(row, 'deleted_at'), now],
          );
          yield* query(`UPDATE ${entries} SET deleted_at = NULL WHERE key = ?`, id);
          yield* parts.writeWords(id, textOf(row, 'text_content'));
        }
        yield* counts.recount(threadsOf(rows));
        return { ids: idsOf(rows) };
      }),
  };

  /** As storing does, so that what is counted does not change meanwhile. */
  function* lockThreads(rows: readonly Row[]): Work<void> {
    const names = threadsOf(rows).map(threadLock);
    yield* lockAll(names, dialect);
  }

  /** What nobody can bring back any more goes for good, with everything that belongs to it. */
  function* purge(now: string): Work<void> {
    const limit = daysBefore(now, keptDays);
    const gone = yield* query(`DELETE FROM ${entries} WHERE deleted_at < ? RETURNING deleted_at`, limit);
    const last = gone.map((row) => textOf(row, 'deleted_at')).reduce((a, b) => (a > b ? a : b), '');
    if (last !== '') yield* writeSetting('purged_to', last, dialect);
    yield* query(`DELETE FROM ${dialect.schema}context_idempotency WHERE created_at < ?`, limit);
  }
}

function idsOf(rows: readonly Row[]): number[] {
  return rows.map((row) => numberOf(row, 'key'));
}

function threadsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map((row) => textOf(row, 'thread_id')))];
}

function outcome(ids: readonly number[]): RemoveOutcome {
  return { count: ids.length, ids: ids.slice(0, namedMax) };
}

function removeCondition({ ids, threadIds, source, olderThanDays }: RemoveRequest, now: string, dialect: Dialect) {
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

export function daysBefore(now: string, days: number): string {
  return new Date(Date.parse(now) - days * 86_400_000).toISOString();
}
