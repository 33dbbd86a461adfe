import type { Rights } from '../../base/rights.ts';
import type { ReadOptions } from './read-options.ts';

/** Tokens that were given to callers, by name. Only their hashes are stored. */
export interface TokenStore {
  /** False if a token of this name is in use. */
  add(token: NewToken): Promise<boolean>;
  /** Those that were not revoked, by name; expired ones too. */
  list(options?: ReadOptions): Promise<StoredToken[]>;
  /** Not one that was revoked; an expired one, too. */
  find(request: { readonly hash: string }, options?: ReadOptions): Promise<StoredToken | undefined>;
  /** False if none of this name is in use. */
  revoke(request: { readonly name: string }): Promise<boolean>;
  /** Revokes all and forgets that there were any. Returns how many were in use. */
  forgetAll(): Promise<number>;
  /** Whether there has ever been one, revoked or not, since the last `forgetAll`. */
  any(options?: ReadOptions): Promise<boolean>;
  /** Remembers when it was used. */
  touch(request: { readonly id: number; readonly time: string }): Promise<void>;
}

export interface NewToken {
  readonly name: string;
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  readonly rights: Rights;
  /** ISO 8601, UTC, with milliseconds. */
  readonly expiresAt: string | undefined;
}

export interface StoredToken extends NewToken {
  /** Never given again. */
  readonly id: number;
  readonly createdAt: string;
  readonly lastUsedAt: string | undefined;
}
