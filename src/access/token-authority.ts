import { timingSafeEqual } from 'node:crypto';
import type { Logger } from '../base/log.ts';
import { hasExpired, type Principal } from '../base/rights.ts';
import type { Authority } from '../http/guards.ts';
import type { StoredToken, TokenStore } from '../storage/tokens/token.ts';
import { hashToken, isTokenForm } from './token.ts';

/** How long the answer to "does any token exist?" is cached. A server notices its first token within this time. */
const requiredCacheMs = 1_000;

/** Precision of a token's time of last use, which is written at most once per hour. */
const lastUsedPrecisionMs = 3_600_000;

export interface TokenAuthorityOptions {
  /** True if other machines can reach the server. Once it has seen a token, it keeps requiring one, even if all are revoked. */
  readonly isExposed: boolean;
  /** True if every call needs a token, even if none exists yet. */
  readonly isAlwaysRequired: boolean;
}

/** Recognises the tokens in a database. Every request reads it, so a revocation takes effect immediately. */
export function createTokenAuthority(
  tokens: () => Promise<TokenStore>,
  log: Logger,
  { isExposed, isAlwaysRequired }: TokenAuthorityOptions,
): Authority {
  const touched = new Map<number, string>();
  let required: boolean | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<boolean> | undefined;

  const load = async (): Promise<boolean> => {
    try {
      required = await (await tokens()).any();
      loadedAt = performance.now();
    } catch (error) {
      // Keeps the last answer, so that a database failure never makes tokens optional.
      if (required === undefined) throw error;
    }
    return required;
  };

  const touch = (store: TokenStore, { id, lastUsedAt = '' }: StoredToken): void => {
    const now = Date.now();
    const time = new Date(now - (now % lastUsedPrecisionMs)).toISOString();
    if (lastUsedAt >= time || touched.get(id) === time) return;
    touched.set(id, time);
    // Not awaited, because the request need not wait for it.
    store.touch({ id, time }).catch((error: unknown) => log.debug('could not record the use of a token', { error }));
  };

  return {
    async isRequired() {
      if (isAlwaysRequired || (isExposed && required)) return true;
      if (performance.now() - loadedAt <= requiredCacheMs) return required ?? true;
      loading ??= load().finally(() => {
        loading = undefined;
      });
      return loading;
    },
    async identify(presented) {
      if (!isTokenForm(presented)) return undefined;
      const hash = hashToken(presented);
      const store = await tokens();
      const found = await store.find({ hash });
      if (found === undefined || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return undefined;
      const principal = principalOf(found);
      if (hasExpired(principal)) return undefined;
      touch(store, found);
      return principal;
    },
    async areValid(principals) {
      const store = await tokens();
      const valid = new Set((await store.list()).map(credentialOf));
      return principals.map(({ credential }) => credential === undefined || valid.has(credential));
    },
  };
}

function principalOf(token: StoredToken): Principal {
  const { name, rights, expiresAt } = token;
  const expiry = expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) };
  const credential = credentialOf(token);
  return { name, identity: credential, rights, credential, ...expiry };
}

function credentialOf({ id }: StoredToken): string {
  return `token ${id}`;
}
