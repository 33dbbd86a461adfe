import { textHash } from '../../base/text-hash.ts';
import type { Dialect, Statements } from '../dialect.ts';
import { lockAll } from '../idempotency.ts';
import type { Condition } from '../rows.ts';
import type { ContentType } from './entry-filter.ts';

/**
 * Locks threads before entries are added, removed or restored, so that what is read afterwards stays valid until the
 * transaction ends. All threads share 256 locks, because PostgreSQL's lock table is too small for one lock per thread. Locking
 * threads before rows avoids deadlocks.
 */
export async function lockThreads(on: Statements, threadIds: readonly string[]): Promise<void> {
  const names = threadIds.map((threadId) => `threads ${textHash(threadId).slice(0, 2)}`);
  await lockAll(on, [...new Set(names)]);
}

/** Returns the statement that adds new entries to the counts of their threads. Every write maintains these counts. */
export function countAdded(dialect: Dialect, ids: readonly number[]): Condition {
  return {
    sql: `${insertCounts(dialect, `o.key IN (${dialect.fewIntegers})`)} ON CONFLICT (thread_id) DO UPDATE
      SET users = t.users + excluded.users, agents = t.agents + excluded.agents,
      multimodal = t.multimodal + excluded.multimodal,
      first_entry = ${dialect.least('t.first_entry', 'excluded.first_entry')},
      last_entry = ${dialect.greatest('t.last_entry', 'excluded.last_entry')},
      last_id = ${dialect.greatest('t.last_id', 'excluded.last_id')}`,
    values: [{ list: ids }],
  };
}

/** Updates the count of multimodal entries. `type` is the new content type of an entry in the thread. */
export async function countRetyped(on: Statements, threadId: string, type: ContentType): Promise<void> {
  const difference = type === 'multimodal' ? '+ 1' : '- 1';
  await on.query(
    `UPDATE ${on.dialect.schema}context_threads SET multimodal = multimodal ${difference} WHERE thread_id = ?`,
    [threadId],
  );
}

/** Counts the entries of threads again. Call it after entries were removed or restored. */
export async function recountThreads(on: Statements, threadIds: readonly string[]): Promise<void> {
  const { schema, texts } = on.dialect;
  const list = { list: threadIds };
  await on.query(`DELETE FROM ${schema}context_threads WHERE thread_id IN (${texts})`, [list]);
  await on.query(insertCounts(on.dialect, `o.thread_id IN (${texts}) AND o.deleted_at IS NULL`), [list]);
}

function insertCounts({ schema }: Dialect, condition: string): string {
  const sum = (test: string) => `sum(CASE WHEN ${test} THEN 1 ELSE 0 END)`;
  return `INSERT INTO ${schema}context_threads AS t
    (thread_id, users, agents, multimodal, first_entry, last_entry, last_id)
    SELECT o.thread_id, ${sum("o.source = 'user'")}, ${sum("o.source = 'agent'")},
      ${sum("o.content_type = 'multimodal'")}, min(o.created_at), max(o.created_at), max(o.key)
    FROM ${schema}context_entries o WHERE ${condition} GROUP BY o.thread_id`;
}
