import type { Statements } from '../statements.ts';

/** Until the end of the transaction. */
export async function lock(on: Statements, name: string): Promise<void> {
  await lockAll(on, [name]);
}

/** In one order everywhere, so that two transactions do not wait for each other. */
export async function lockAll(on: Statements, names: readonly string[]): Promise<void> {
  if (on.dialect.lock !== undefined && names.length > 0) await on.query(on.dialect.lock, [{ list: names.toSorted() }]);
}
