import assert from 'node:assert/strict';
import {
  keptDays,
  type RemoveOutcome,
  type RemoveRequest,
  type RestoreOutcome,
  type RestoreRequest,
} from '../entries.ts';
import { createEntryParts } from './entry-parts.ts';
import { once } from './idempotency.ts';
import { type Dialect, type ListValue, numberOf, query, type SqlValue, textOf, type Work } from './work.ts';

export interface EntryRemovals {
  remove(request: RemoveRequest, now: string): Work<RemoveOutcome>;
  restore(request: RestoreRequest, now: string): Work<RestoreOutcome>;
}

/** Ids that an answer names. */
const namedMax = 100;

export function createEntryRemovals(dialect: Dialect): EntryRemovals {
  const entries = `${dialect.schema}context_entries`;
  const parts = createEntryParts(dialect);
  return {
    *remove(request, now) {
      const { sql, values } = removeCondition(request, now, dialect);
      const select = function* () {
        const rows = yield* query(`SELECT o.key FROM ${entries} o WHERE ${sql} ORDER BY o.key`, ...values);
        return rows.map((row) => numberOf(row, 'key'));
      };
      if (request.dryRun) return outcome(yield* select());
      return yield* once(request.idempotency, now, dialect, function* () {
        const ids = yield* select();
        yield* query(`UPDATE ${entries} SET deleted_at = ? WHERE key IN (${dialect.integers})`, now, { list: ids });
        yield* parts.removeWords(ids);
        yield* purge(now);
        return outcome(ids);
      });
    },
    restore: ({ ids, threadId, idempotency }, now) =>
      once(idempotency, now, dialect, function* () {
        const wanted = threadId === undefined ? `key IN (${dialect.integers})` : 'thread_id = ?';
        const rows = yield* query(
          `SELECT key, text_content FROM ${entries} WHERE ${wanted} AND deleted_at >= ? ORDER BY key`,
          ...[threadId ?? { list: ids ?? [] }, daysBefore(now, keptDays)],
        );
        for (const row of rows) {
          const id = numberOf(row, 'key');
          yield* query(`UPDATE ${entries} SET deleted_at = NULL WHERE key = ?`, id);
          yield* parts.writeWords(id, textOf(row, 'text_content'));
        }
        return { ids: rows.map((row) => numberOf(row, 'key')) };
      }),
  };

  /** What nobody can bring back any more goes for good, with everything that belongs to it. */
  function* purge(now: string): Work<void> {
    const limit = daysBefore(now, keptDays);
    yield* query(`DELETE FROM ${entries} WHERE deleted_at < ?`, limit);
    yield* query(`DELETE FROM ${dialect.schema}context_idempotency WHERE created_at < ?`, limit);
  }
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
    values.push({ list: threadIds });
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

function daysBefore(now: string, days: number): string {
  return new Date(Date.parse(now) - days * 86_400_000).toISOString();
}
