import { CarrelError } from '../../../base/errors.ts';
import type { Idempotency } from '../../contracts/entries.ts';
import { storable } from '../../contracts/notes.ts';
import type { Dialect } from '../../dialect.ts';
import { textOf } from '../../statements.ts';
import { type Queries, query, type Work } from './work.ts';

/** Does the work unless the same call was done before, whose answer is then given again. In the work's transaction. */
export function* once<Answer>(
  idempotency: Idempotency | undefined,
  now: string,
  dialect: Dialect,
  work: () => Work<Answer>,
): Work<Answer> {
  if (idempotency === undefined) return yield* work();
  const key = storable(idempotency.key);
  const table = `${dialect.schema}context_idempotency`;
  yield* lock(`idempotency ${key}`, dialect);
  const [known] = yield* query(`SELECT body_hash, answer FROM ${table} WHERE key = ?`, key);
  if (known !== undefined) {
    if (textOf(known, 'body_hash') === idempotency.bodyHash) return JSON.parse(textOf(known, 'answer'));
    throw new CarrelError(
      'idempotency_conflict',
      'This idempotency_key was used before, for another call. Use a new key for a new write.',
    );
  }
  const answer = yield* work();
  yield* query(
    `INSERT INTO ${table} (key, body_hash, answer, created_at) VALUES (?, ?, ?, ?)`,
    ...[key, idempotency.bodyHash, JSON.stringify(answer), now],
  );
  return answer;
}

/** Until the end of the transaction. */
export function* lock(name: string, dialect: Pick<Dialect, 'lock'>): Work<void, Queries> {
  yield* lockAll([name], dialect);
}

/** In one order everywhere, so that two transactions do not wait for each other. */
export function* lockAll(names: readonly string[], dialect: Pick<Dialect, 'lock'>): Work<void, Queries> {
  if (dialect.lock !== undefined && names.length > 0) yield* query(dialect.lock, { list: names.toSorted() });
}

/** Of the thread, for whoever writes to it. */
export function threadLock(threadId: string): string {
  return `thread ${threadId}`;
}
