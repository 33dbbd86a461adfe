import { timingSafeEqual } from 'node:crypto';
import type { Logger } from '../base/log.ts';
import { hasEnded, type Principal } from '../base/rights.ts';
import type { Authority } from '../http/guards.ts';
import type { StoredToken, TokenStore } from '../storage/tokens/token.ts';
import { hashToken, isTokenForm } from './token.ts';

/** Max delay before the first created token closes an open server. */
const requiredKeptMs = 1_000;

/** The time of last use is rounded down to this, so it is written at most this often. */
const usedRoundMs = 3_600_000;

export interface TokenAuthorityOptions {
  /** True if other machines can reach the server. Revoking all tokens while it runs then does not open it. */
  readonly isExposed: boolean;
  /** Every call needs a token, even if none exists yet. */
  readonly isAlwaysRequired: boolean;
}

/** Named tokens in a database. Every request is checked against it, so a revocation by any process takes effect at once. */
export function createTokenAuthority(
  tokens: () => Promise<TokenStore>,
  log: Logger,
  { isExposed, isAlwaysRequired }: TokenAuthorityOptions,
): Authority {
  const touched = new Map<number, string>();
  let required: boolean | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | undefined;

  const look = async (): Promise<boolean> => {
    try {
      required = await (await tokens()).any();
      lookedAt = performance.now();
    } catch (error) {
      // Each call reports the database failure itself; it never opens a closed server.
      if (required === undefined) throw error;
    }
    return required;
  };

  const touch = (store: TokenStore, { id, lastUsedAt = '' }: StoredToken): void => {
    const now = Date.now();
    const time = new Date(now - (now % usedRoundMs)).toISOString();
    if (lastUsedAt >= time || touched.get(id) === time) return;
    touched.set(id, time);
    // Not awaited.
    store.touch({ id, time }).catch((error: unknown) => log.debug('could not record the use of a token', { error }));
  };

  return {
    async isRequired() {
      if (isAlwaysRequired || (isExposed && required)) return true;
      if (performance.now() - lookedAt <= requiredKeptMs) return required ?? true;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    async identify(presented) {
      if (!isTokenForm(presented)) return undefined;
      const hash = hashToken(presented);
      const store = await tokens();
      const found = await store.find({ hash });
      if (found === undefined || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return undefined;
      const principal = principalOf(found);
      if (hasEnded(principal)) return undefined;
      touch(store, found);
      return principal;
    },
    async areValid(principals) {
      const store = await tokens();
      const known = new Set((await store.list()).map(credentialOf));
      return principals.map(({ credential }) => credential === undefined || known.has(credential));
    },
  };
}

function principalOf(token: StoredToken): Principal {
  const { name, rights, expiresAt } = token;
  const end = expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) };
  const credential = credentialOf(token);
  return { name, identity: credential, rights, credential, ...end };
}

function credentialOf({ id }: StoredToken): string {
  return `token ${id}`;
}
