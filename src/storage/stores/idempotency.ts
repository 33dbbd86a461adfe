import assert from 'node:assert/strict';
import { CarrelError } from '../../base/errors.ts';
import type { Idempotency } from '../contracts/entries.ts';
import type { Statements } from '../dialect.ts';
import { textOf } from '../rows.ts';
import { storable } from '../storable.ts';

/** Does the work unless the same call was done before; then its answer is returned again. In the work's transaction. */
export async function once<Answer>(
  on: Statements,
  idempotency: Idempotency | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (idempotency === undefined) return work();
  const key = storable(idempotency.key);
  const table = `${on.dialect.schema}idempotency_keys`;
  await lock(on, `idempotency ${key}`);
  const [known] = await on.query(`SELECT body_hash, answer FROM ${table} WHERE key = ?`, [key]);
  if (known !== undefined) {
    if (textOf(known, 'body_hash') === idempotency.bodyHash) return JSON.parse(textOf(known, 'answer'));
    throw new CarrelError(
      'idempotency_conflict',
      'This idempotency_key was already used for another call. Use a new key for a new write.',
    );
  }
  const answer = await work();
  await on.query(`INSERT INTO ${table} (key, body_hash, answer, created_at) VALUES (?, ?, ?, ?)`, [
    key,
    idempotency.bodyHash,
    JSON.stringify(answer),
    on.now,
  ]);
  return answer;
}

/** Until the end of the transaction. */
export async function lock(on: Statements, name: string): Promise<void> {
  await lockAll(on, [name]);
}

/** Of one transaction: PostgreSQL has room for some thousand of all together. */
export const locksMax = 500;

/** In one order everywhere, so that two transactions do not wait for each other. */
export async function lockAll(on: Statements, names: readonly string[]): Promise<void> {
  assert(names.length <= locksMax, 'more locks than a transaction may have');
  if (on.dialect.lock !== undefined && names.length > 0) await on.query(on.dialect.lock, [{ list: names.toSorted() }]);
}
