import type { Statements } from '../../dialect.ts';
import { lockAll, locksMax } from '../idempotency.ts';

/**
 * For whoever adds, removes or restores entries of these threads: what is read behind it stays as it is until the end. Where
 * they are many, the table of all entries stands for them. A process of an earlier version takes the locks of its threads only;
 * it meets the table when it writes.
 *
 * First the threads, then the table, then rows, so that two transactions do not wait for each other. `exclusive` for who will
 * lock the table anyway.
 */
export async function lockThreads(
  on: Statements,
  threadIds: readonly string[],
  table: 'shared' | 'exclusive' = 'shared',
): Promise<void> {
  const names = [...new Set(threadIds)].map((threadId) => `thread ${threadId}`);
  if (names.length === 0) return;
  const areMany = names.length > locksMax;
  if (!areMany) await lockAll(on, names);
  const lockTable = on.dialect.lockTable('context_entries', areMany ? 'exclusive' : table);
  if (lockTable !== undefined) await on.query(lockTable);
}
