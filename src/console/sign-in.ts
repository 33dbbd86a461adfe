import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Principal } from '../base/rights.ts';

/**
 * Console sessions, opened with a token. They are kept in memory, so visitors must sign in again after a restart.
 *
 * Browsers send a cookie to every port of a host. Over TLS the cookie's name starts with `__Host-`. Without the certificate,
 * a server on another port can neither read nor set such a cookie. Without TLS each session has a secret path, and browsers send its cookie
 * only below that path.
 */
export interface SignIns {
  /** Opens a session. Returns its `Set-Cookie` header and the secret path of its pages, which is empty over TLS. */
  open(request: IncomingMessage, principal: Principal, isSecure: boolean): { cookie: string; base: string };
  /** Returns the signed-in sender of a request. `base` is the secret path in the request. */
  find(request: IncomingMessage, base: string): Principal | undefined;
  /** Ends the session of a request. Returns the `Set-Cookie` header that removes its cookie. */
  close(request: IncomingMessage, base: string): string;
}

const lifetimeMs = 12 * 3_600_000;
const sessionsMax = 1_000;
/** Max sessions per principal. A new session beyond this limit closes the oldest one. */
const perPrincipalMax = 20;
const commonAttributes = 'HttpOnly; SameSite=Strict';

/** Splits the secret path of a session from the rest of a path. */
export function splitBase(pathname: string): { base: string; path: string } {
  const [, base = '', path = pathname] = /^(\/~[\w-]{22})(\/.*)$/.exec(pathname) ?? [];
  return { base, path };
}

export function createSignIns(): SignIns {
  const sessions = new BoundedMap<string, { principal: Principal; base: string; expiry: number }>(sessionsMax);
  // Random, so that others can't set a cookie with this name.
  const suffix = randomBytes(6).toString('hex');
  const cookieName = (request: IncomingMessage, base: string): string =>
    `${base === '' ? '__Host-' : ''}carrel_${suffix}${portOf(request)}`;

  /** Reads the session's id from the cookie. If there are two such cookies, someone else set one, so neither is accepted. */
  const sessionId = (request: IncomingMessage, base: string): string | undefined => {
    const pattern = new RegExp(`(?:^|; ?)${cookieName(request, base)}=([^;]*)`, 'g');
    const [first, ...duplicates] = [...(request.headers.cookie ?? '').matchAll(pattern)];
    return duplicates.length === 0 ? first?.[1] : undefined;
  };

  return {
    open(request, principal, isSecure) {
      const existing = [...sessions].filter(([, each]) => each.principal.identity === principal.identity);
      for (const [oldest] of existing.slice(0, Math.max(0, existing.length + 1 - perPrincipalMax)))
        sessions.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      const base = isSecure ? '' : `/~${randomBytes(16).toString('base64url')}`;
      sessions.set(id, { principal, base, expiry: performance.now() + lifetimeMs });
      return {
        cookie: `${cookieName(request, base)}=${id}; ${cookieAttributes(base)}; Max-Age=${lifetimeMs / 1000}`,
        base,
      };
    },
    find(request, base) {
      const found = sessions.get(sessionId(request, base) ?? '');
      return found !== undefined && found.base === base && found.expiry > performance.now()
        ? found.principal
        : undefined;
    },
    close(request, base) {
      sessions.delete(sessionId(request, base) ?? '');
      return `${cookieName(request, base)}=; ${cookieAttributes(base)}; Max-Age=0`;
    },
  };
}

function cookieAttributes(base: string): string {
  return base === '' ? `Path=/; ${commonAttributes}; Secure` : `Path=${base}; ${commonAttributes}`;
}

/** Returns the port, which is part of the cookie's name: two servers on one host must not end each other's sessions. */
function portOf({ headers: { host = '' } }: IncomingMessage): string {
  return /:(\d{1,5})$/.exec(host)?.[1] ?? '';
}
