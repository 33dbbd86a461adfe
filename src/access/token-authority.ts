import { timingSafeEqual } from 'node:crypto';
import type { Logger } from '../base/log.ts';
import { hasEnded, type Principal } from '../base/rights.ts';
import type { Authority } from '../http/guards.ts';
import type { StoredToken, TokenStore } from '../storage/tokens/token.ts';
import { hashToken, isTokenForm } from './token.ts';

/** How long it may take until the first token ever closes a server that was open. */
const requiredKeptMs = 1_000;

/** The time of last use is rounded down to this, and written at most so often. */
const usedRoundMs = 3_600_000;

export interface TokenAuthorityOptions {
  /** Others can reach the server: it does not open because all tokens are taken back while it runs. */
  readonly isExposed: boolean;
  /** Nobody may call without a token, whether or not there has ever been one. */
  readonly isAlwaysRequired: boolean;
}

/**
 * Named tokens of a database. Each request is checked against it, so that a token that any process revokes ends with the
 * answer to whoever revoked it.
 */
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
      // Whatever is wrong with the database, each call will tell; it does not open a server that was closed.
      if (required === undefined) throw error;
    }
    return required;
  };

  const touch = (store: TokenStore, { id, lastUsedAt = '' }: StoredToken): void => {
    const now = Date.now();
    const time = new Date(now - (now % usedRoundMs)).toISOString();
    if (lastUsedAt >= time || touched.get(id) === time) return;
    touched.set(id, time);
    // Nobody waits for it.
    store.touch({ id, time }).catch((error: unknown) => log.debug('the use of a token was not noted', { error }));
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
