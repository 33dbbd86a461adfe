import type { Rights } from '../../base/rights.ts';
import type { Statements } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import { field, optionalTextOf, type RecordOf, type Row, recordOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { reads, type StoreOf, writes } from '../store-operations.ts';

/** Access tokens. Each has a name. Only the hash of a token is stored. */
export type TokenStore = StoreOf<typeof tokenOperations>;

const newFields = {
  name: field.text('name'),
  /** SHA-256 of the token, in hex. */
  hash: field.text('hash'),
  rights: field.json<Rights>('rights'),
  /** ISO 8601, UTC, with milliseconds. */
  expiresAt: field.optionalText('expires_at'),
};

const tokenFields = {
  /** Never reused. */
  id: field.number('key'),
  ...newFields,
  createdAt: field.text('created_at'),
  lastUsedAt: field.optionalText('last_used_at'),
};

export type NewToken = RecordOf<typeof newFields>;

export type StoredToken = RecordOf<typeof tokenFields>;

export const tokenOperations = {
  ...reads({ list: listTokens, find: findToken, any: anyToken }),
  ...writes({ add: addToken, revoke: revokeToken, forgetAll: forgetTokens, touch: touchToken }),
};

/** Adds a token. Returns false if a token of this name exists and is not revoked. */
export async function addToken(db: Statements, { name, hash, rights, expiresAt }: NewToken): Promise<boolean> {
  await lock(db, `token ${name}`);
  const [existing] = await db.query('SELECT key FROM access_tokens WHERE name = ? AND revoked_at IS NULL', [
    storable(name),
  ]);
  if (existing !== undefined) return false;
  await db.query('INSERT INTO access_tokens (name, hash, rights, created_at, expires_at) VALUES (?, ?, ?, ?, ?)', [
    storable(name),
    hash,
    storable(JSON.stringify(rights)),
    db.now,
    expiresAt ?? null,
  ]);
  return true;
}

/** Lists the tokens that are not revoked, by name. Includes expired ones. */
export async function listTokens(db: Statements): Promise<StoredToken[]> {
  const rows = await db.query('SELECT * FROM access_tokens WHERE revoked_at IS NULL ORDER BY name, key');
  return rows.map(tokenOf);
}

/** Finds a token that is not revoked. It may have expired. */
export async function findToken(db: Statements, { hash }: { hash: string }): Promise<StoredToken | undefined> {
  const [row] = await db.query('SELECT * FROM access_tokens WHERE hash = ? AND revoked_at IS NULL', [hash]);
  return row === undefined ? undefined : tokenOf(row);
}

/** Revokes a token. Returns false if no token has this name or it is already revoked. */
export async function revokeToken(db: Statements, { name }: { name: string }): Promise<boolean> {
  const rows = await db.query(
    'UPDATE access_tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL RETURNING key',
    [db.now, storable(name)],
  );
  return rows.length > 0;
}

/** Deletes all tokens, even revoked ones. Returns the number that were not revoked. */
export async function forgetTokens(db: Statements): Promise<number> {
  const rows = await db.query('DELETE FROM access_tokens RETURNING revoked_at');
  return rows.filter((row) => optionalTextOf(row, 'revoked_at') === undefined).length;
}

/** Returns true if a token, revoked or not, was added since the last `forgetAll`. */
export async function anyToken(db: Statements): Promise<boolean> {
  const rows = await db.query('SELECT key FROM access_tokens LIMIT 1');
  return rows.length > 0;
}

/** Records when a token was last used. */
export async function touchToken(db: Statements, { id, time }: { id: number; time: string }): Promise<void> {
  await db.query(
    `UPDATE access_tokens SET last_used_at = ? WHERE key = ? AND (last_used_at IS NULL OR last_used_at < ?)`,
    [time, id, time],
  );
}

function tokenOf(row: Row): StoredToken {
  return recordOf(tokenFields, row);
}
