/**
 * Entries or passages that one statement changes: a trigger of PostgreSQL, which keeps the plan that it has made for few, may
 * compare each of them with all others.
 */
const changedAtOnce = 25;

/** What a transaction changes, for one statement after the other. */
export function* portionsOf<Item>(all: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < all.length; at += changedAtOnce) yield all.slice(at, at + changedAtOnce);
}
