import assert from 'node:assert/strict';
import { CarrelError } from '../base/errors.ts';
import type { Statements } from './dialect.ts';
import type { Idempotency } from './entries/entry.ts';
import { textOf } from './rows.ts';
import { storable } from './storable.ts';

/** Runs `work` and stores its answer, in one transaction. If the same call was made before, returns the stored answer instead. */
export async function once<Answer>(
  db: Statements,
  idempotency: Idempotency | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (idempotency === undefined) return work();
  const key = storable(idempotency.key);
  // Waits if a transaction with the same key is in progress.
  const [inserted] = await db.query(
    `INSERT INTO idempotency_keys (key, body_hash, answer, created_at) VALUES (?, ?, '', ?) ON CONFLICT DO NOTHING RETURNING key`,
    [key, idempotency.bodyHash, db.now],
  );
  if (inserted !== undefined) {
    const answer = await work();
    await db.query('UPDATE idempotency_keys SET answer = ? WHERE key = ?', [JSON.stringify(answer), key]);
    return answer;
  }
  const [earlier] = await db.query('SELECT body_hash, answer FROM idempotency_keys WHERE key = ?', [key]);
  // The other call's record was purged after the INSERT, so start again.
  if (earlier === undefined) return once(db, idempotency, work);
  if (textOf(earlier, 'body_hash') === idempotency.bodyHash) return JSON.parse(textOf(earlier, 'answer'));
  throw new CarrelError(
    'idempotency_conflict',
    'This idempotency_key was already used for another call. Use a new key for a new write.',
  );
}

/** Locks a name until the end of the transaction. */
export async function lock(db: Statements, name: string): Promise<void> {
  await lockAll(db, [name]);
}

/** Max locks per transaction. PostgreSQL supports only a few thousand for all transactions together. */
export const locksMax = 500;

/** Locks names in a fixed order, so that two transactions cannot deadlock. */
export async function lockAll(db: Statements, names: readonly string[]): Promise<void> {
  assert(names.length <= locksMax, 'more locks than a transaction may have');
  if (db.dialect.lock !== undefined && names.length > 0) await db.query(db.dialect.lock, [{ list: names.toSorted() }]);
}
